#include "codegen/analysis/compared.h"

#include <algorithm>

namespace accel {

namespace {

struct Estimate {
  Op op;
  const char* type;
};
constexpr Estimate estimates[] = {
    {Op::exp, "Exp"}, {Op::exp2, "Exp2"}, {Op::log, "Log"}, {Op::log2, "Log2"}, {Op::log10, "Log10"},
};

bool is_estimated(DType dtype) { return dtype == DType::float64 || dtype == DType::float32; }

// How many statements name a buffer.
long uses_of_buffer(const Body& body, BufferId id) {
  long count = 0;
  for (const Stmt& stmt : body) {
    count += stmt.address.buffer == id;
    for (const CallOperand& operand : stmt.operands) count += operand.address.buffer == id;
    count += uses_of_buffer(stmt.body, id);
  }
  return count;
}

long uses_of_temp(const Body& body, TempId temp) {
  long count = 0;
  for (const Stmt& stmt : body) {
    count += std::count(stmt.args.begin(), stmt.args.end(), temp);
    count += uses_of_temp(stmt.body, temp);
  }
  return count;
}

bool defines(const Body& body, TempId temp) {
  return std::any_of(body.begin(), body.end(), [&](const Stmt& stmt) { return stmt.dst == temp || defines(stmt.body, temp); });
}

// Whether the temp has its final value before `body[position]`: it comes from outside of the nest, or from an earlier
// statement.
bool is_known_before(const Nest& nest, const Body& body, size_t position, TempId temp) {
  if (!defines(nest.body, temp)) return true;
  auto end = body.begin() + static_cast<std::ptrdiff_t>(position);
  return std::any_of(body.begin(), end, [&](const Stmt& stmt) { return stmt.dst == temp && is_number(stmt.kind); });
}

}  // namespace

const char* estimate_of(const Program& program, const Stmt& stmt) {
  if (stmt.kind != StmtKind::call || program.dims.as_constant(stmt.extent) != 1) return nullptr;
  const LoopImport& import = program.imports[static_cast<size_t>(stmt.import)];
  auto found =
      std::find_if(std::begin(estimates), std::end(estimates), [&](const Estimate& each) { return each.op == import.op; });
  bool floats = std::all_of(import.dtypes.begin(), import.dtypes.end(),
                            [&](DType dtype) { return is_estimated(dtype) && dtype == import.dtypes[0]; });
  return floats && found != std::end(estimates) ? found->type : nullptr;
}

std::optional<std::vector<TempId>> compared_with(const Program& program, const Nest& nest, const Body& body, size_t call) {
  BufferId result = body[call].operands.back().address.buffer;
  if (program.buffers[static_cast<size_t>(result)].kind != BufferKind::scratch) return std::nullopt;
  long loads = 0;
  std::vector<TempId> numbers;
  for (size_t k = call + 1; k < body.size(); ++k) {
    if (body[k].kind != StmtKind::load || body[k].address.buffer != result) continue;
    ++loads;
    TempId value = body[k].dst;
    long comparisons = 0;
    for (const Stmt& use : body) {
      if (use.kind != StmtKind::compute || !is_comparison(use.op) || use.args.size() != 2) continue;
      if (use.args[0] == use.args[1] || std::count(use.args.begin(), use.args.end(), value) == 0) continue;
      TempId number = use.args[0] == value ? use.args[1] : use.args[0];
      if (!is_estimated(program.temps[static_cast<size_t>(number)])) return std::nullopt;
      if (!is_known_before(nest, body, call, number)) return std::nullopt;
      numbers.push_back(number);
      ++comparisons;
    }
    if (comparisons == 0 || comparisons != uses_of_temp(nest.body, value)) return std::nullopt;
  }
  if (loads == 0 || uses_of_buffer(nest.body, result) != loads + 1) return std::nullopt;
  return numbers;
}

}  // namespace accel
