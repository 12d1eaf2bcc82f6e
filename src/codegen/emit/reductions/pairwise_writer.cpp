#include "codegen/emit/reductions/pairwise_writer.h"

#include <algorithm>

#include "codegen/emit/expressions.h"
#include "codegen/emit/loops/straight_line_writer.h"

namespace accel {

namespace {

constexpr int64_t accumulators = 8;  // of NumPy's loop over a short run

// float16 is summed in float32.
std::string summed_type(DType element) { return element == DType::float16 ? "f32" : cpp_type(element); }
bool is_complex(DType dtype) { return dtype_kind(dtype) == 'c'; }

}  // namespace

std::string sum_of(DType element) { return cat("SumOf<", summed_type(element), ">"); }

void PairwiseWriter::pairwise(const Stmt& stmt) {
  if (!is_inexact(dtype(stmt.args[0]))) return fail_with("a pairwise sum of integers");
  code_.line(cat(type(stmt.dst), " ", temp_name(stmt.dst), ";"));
  code_.open("");
  if (stmt.chunk > 0 || !straight_pairwise(stmt)) {
    write_source(stmt);
    std::string count = dim(stmt.extent), result;
    if (stmt.chunk > 0) {
      code_.open("const auto chunk = [&](i64 begin, i64 count) __attribute__((always_inline))");
      code_.line(cat("return ", tree(stmt, "begin", "count"), ";"));
      code_.close("};");
      result =
          cat("pairwise_chunks<", sum_of(dtype(stmt.args[0])), ", ", type(stmt.dst), ">(", count, ", ", stmt.chunk, ", chunk)");
    } else {
      result = cat("cast<", type(stmt.dst), ">(", tree(stmt, "0", count), ")");
    }
    code_.line(cat(temp_name(stmt.dst), " = ", result, ";"));
  }
  code_.close();
}

void PairwiseWriter::write_source(const Stmt& stmt) {
  if (auto source = contiguous_source(stmt)) return code_.line(cat("const char* const source = ", *source, ";"));
  if (auto bools = over_bools(stmt)) return element(*bools, "source", type(bools->args[0]), temp_name(bools->args[0]));
  std::string summed = summed_type(dtype(stmt.args[0]));
  element(stmt, "source", summed, cat("cast<", summed, ">(", temp_name(stmt.args[0]), ")"));
}

std::string PairwiseWriter::tree(const Stmt& stmt, const std::string& begin, const std::string& count) {
  std::string sum = sum_of(dtype(stmt.args[0])), call = cat(">(", begin, ", ", count, ", source)");
  if (contiguous_source(stmt)) return cat("pairwise_contiguous<", sum, call);
  if (over_bools(stmt)) return cat("pairwise_counted<", sum, call);
  return cat("pairwise_computed<", sum, ", ", is_straight(stmt.body) ? "true" : "false", call);
}

// Address of element 0 when the elements are side by side in memory.
std::optional<std::string> PairwiseWriter::contiguous_source(const Stmt& stmt) {
  if (stmt.body.size() != 1 && stmt.kind != StmtKind::masked_pairwise) return std::nullopt;
  auto source = std::find_if(stmt.body.begin(), stmt.body.end(), [&](const Stmt& s) { return s.dst == stmt.args[0]; });
  if (source == stmt.body.end() || source->kind != StmtKind::load) return std::nullopt;
  if (dtype(stmt.args[0]) == DType::float16) return std::nullopt;
  const Address& address = source->address;
  DimTable& dims = copy_.dims;
  Dim stride = step_over(dims, address.offset, stmt.var);
  if (constant_value(stride) != item_size(dtype(stmt.args[0]))) return std::nullopt;
  return cat(buffer(address.buffer), " + ", dim(dims.substitute(address.offset, *dims.as_symbol(stmt.var), 0)));
}

// Short runs of a known length need no tree: fewer than 8 reals are added one by one, 8 by NumPy's eight accumulators.
bool PairwiseWriter::straight_pairwise(const Stmt& stmt) {
  DType from = dtype(stmt.args[0]);
  auto count = StraightLineWriter(emission_).extent(stmt, is_complex(from) ? 3 : accumulators);
  if (!count) return false;
  std::string summed = summed_type(from), sum = sum_of(from), value = cat("cast<", summed, ">(", temp_name(stmt.args[0]), ")");
  if (*count == accumulators) {
    code_.line(cat(summed, " r[8];"));
    StraightLineWriter(emission_).write_copies(stmt, *count, [&](int64_t k) { code_.line(cat("r[", k, "] = ", value, ";")); });
    code_.line(cat("const ", summed, " total = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));"));
  } else {
    const char* zero = is_complex(from) ? "{-0.0, -0.0}" : "-0.0";
    code_.line(cat(summed, " total = ", zero, ";"));
    StraightLineWriter(emission_).write_copies(
        stmt, *count, [&](int64_t) { code_.line(cat("total = ", sum, "::add(total, ", value, ");")); });
  }
  code_.line(cat(temp_name(stmt.dst), " = cast<", type(stmt.dst), ">(total);"));
  return true;
}

// Elements that do not count are not computed.
void PairwiseWriter::masked_pairwise(const Stmt& stmt) {
  DType summed = dtype(stmt.args[0]);
  std::string total = temp_name(stmt.dst), t = type(stmt.dst);
  code_.line(cat(t, " ", total, ";"));
  code_.open("");
  write_source(stmt);
  code_.open("const auto tree = [&](i64 begin, i64 count) __attribute__((always_inline))");
  code_.line(cat("return ", tree(stmt, "begin", "count"), ";"));
  code_.close("};");
  element(stmt, "counts", type(stmt.args[2]), temp_name(stmt.args[2]));
  code_.line(cat(total, " = pairwise_masked<", sum_of(summed), ", ", t, ">(", temp_name(stmt.args[1]), ", ", dim(stmt.extent),
                 ", counts, tree);"));
  code_.close();
}

}  // namespace accel
