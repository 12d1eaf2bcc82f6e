#include "codegen/emit/loops/lane_loop_writer.h"

#include <algorithm>
#include <utility>

#include "codegen/emit/loops/loop_writer.h"
#include "codegen/emit/reductions/argreduce_writer.h"

namespace accel {

namespace {

constexpr int lane_strip = 512;
constexpr int fewest_lanes = 16;
constexpr int64_t farthest = 64;  // bytes between the elements of neighbouring lanes

int64_t count_stores(const Body& body) {
  int64_t count = 0;
  for (const Stmt& stmt : body) count += is_store(stmt.kind) + count_stores(stmt.body);
  return count;
}

bool has_roots(const Program& program, const Body& body) {
  return std::any_of(body.begin(), body.end(),
                     [&](const Stmt& stmt) { return is_of_roots(program, stmt) || has_roots(program, stmt.body); });
}

}  // namespace

// Whether neighbouring lanes load elements that are close to each other in memory, or one element.
bool LaneLoopWriter::is_near(const Body& body, Dim lane) {
  return std::all_of(body.begin(), body.end(), [&](const Stmt& stmt) {
    if (stmt.kind == StmtKind::gather || stmt.kind == StmtKind::scatter || stmt.kind == StmtKind::list) return false;
    if (stmt.kind == StmtKind::load) {
      auto stride = names_.stride_over(stmt.address.offset, lane);
      if (!stride || *stride < -farthest || *stride > farthest) return false;
    }
    return is_near(stmt.body, lane);
  });
}

// Index of the only statement that is a loop: an argmin or argmax of real numbers, which the others prepare and store.
std::optional<size_t> LaneLoopWriter::reduced_in_lanes(const Body& body, Dim lane) {
  std::optional<size_t> found;
  for (size_t k = 0; k < body.size(); ++k) {
    if (is_straight({body[k]})) {
      if (!found && !is_number(body[k].kind)) return std::nullopt;
      continue;
    }
    bool good = !found && body[k].kind == StmtKind::argreduce && is_straight(body[k].body) && is_near(body[k].body, lane);
    DType dtype = good ? this->dtype(body[k].args[0]) : DType::complex64;
    if (!good || dtype == DType::float16 || dtype_kind(dtype) == 'c') return std::nullopt;
    found = k;
  }
  return found;
}

bool LaneLoopWriter::fits(const Stmt& stmt) {
  if (emission_.in_lanes || loads_what_it_stores(copy_.program, stmt.body)) return false;
  if (is_straight(stmt.body)) return has_roots(copy_.program, stmt.body);
  return reduced_in_lanes(stmt.body, stmt.var).has_value();
}

// The store of a loop that writes a result from its start to its end, element after element, if that is its only one.
const Stmt* LaneLoopWriter::streamed_store(const Stmt& loop) {
  if (loop.loop_kind != LoopKind::parallel || count_stores(loop.body) != 1) return nullptr;
  for (const Stmt& stmt : loop.body) {
    if (stmt.kind != StmtKind::store || buffer_info(stmt.address.buffer).kind != BufferKind::output) continue;
    if (copy_.program.is_early(stmt.address.buffer)) continue;  // it is written again
    if (names_.stride_over(stmt.address.offset, loop.var) == item_size(dtype(stmt.args[0]))) return &stmt;
  }
  return nullptr;
}

// A large result is written to a strip of its own, which is then stored past the caches.
void LaneLoopWriter::begin_strip(const Stmt& loop, const Stmt& store) {
  int size = item_size(dtype(store.args[0]));
  code_.line(cat("char memory[", lane_strip * size, "] __attribute__((aligned(64)));"));
  code_.line("char* out;");
  code_.line(cat("{ const i64 ", variable(loop.var), " = strip; out = ", address(store.address), "; }"));
  code_.line("char* const to = streams ? memory : out;");
  emission_.strip_address = cat("to + ", size, "L*(", variable(loop.var), " - strip)");
}

void LaneLoopWriter::end_strip(const Stmt& store) {
  emission_.strip_address.clear();
  code_.line(cat("if (streams) stream(out, memory, ", item_size(dtype(store.args[0])), "L*(strip_end - strip));"));
}

void LaneLoopWriter::write_loop(const Stmt& stmt, const std::string& first, const std::string& last) {
  std::optional<size_t> reduction;
  if (!is_straight(stmt.body)) reduction = reduced_in_lanes(stmt.body, stmt.var);
  const Stmt* streamed = streamed_store(stmt);
  if (streamed)
    code_.line(
        cat("const bool streams = ", item_size(dtype(streamed->args[0])), "L*", dim(stmt.extent), " >= streamed_bytes;"));
  code_.open(cat("for (i64 strip = ", first, ", stop = ", last, "; strip < stop; strip += ", lane_strip, ")"));
  code_.line(cat("const i64 strip_end = index_min(strip + ", lane_strip, ", stop);"));
  code_.line(cat("u64 open = strip_end - strip < ", reduction ? fewest_lanes : 0, ";"));
  if (streamed) begin_strip(stmt, *streamed);
  emission_.in_lanes = true;
  if (reduction) {
    code_.open("if (open == 0)");
    bool outside = std::exchange(emission_.in_vectors, true);
    lanes_of_reduction(stmt, *reduction);
    emission_.in_vectors = outside;
    code_.close();
  } else {
    LoopWriter(emission_).plain_loop(stmt, "strip", "strip_end");
  }
  emission_.in_lanes = false;
  code_.open("if (open != 0)");
  LoopWriter(emission_).plain_loop(stmt, "strip", "strip_end");
  code_.close();
  if (streamed) end_strip(*streamed);
  code_.close();
  if (streamed) code_.line("if (streams) end_streams();");
}

// The loop over the reduced axis is outside, that over the lanes inside: the extremes so far lie in arrays.
void LaneLoopWriter::lanes_of_reduction(const Stmt& stmt, size_t reduction) {
  const Stmt& given = stmt.body[reduction];
  auto loop_over_lanes = [&] {
    std::string var = variable(stmt.var);
    code_.line("#pragma GCC ivdep");
    code_.open(cat("for (i64 ", var, " = strip; ", var, " < strip_end; ++", var, ")"));
    for (size_t k = 0; k < reduction; ++k) write(stmt.body[k]);
    return cat("[", var, " - strip]");
  };
  Extremes extremes = ArgreduceWriter(emission_).write_beats(given);
  const Stmt& reduce = extremes.stmt;
  std::string var = variable(reduce.var);
  // The first elements are compared with something, too, which must be no NaN: that would be an event.
  code_.line(cat(type(reduce.args[0]), " best[", lane_strip, "] __attribute__((aligned(64))) = {};"));
  code_.line(cat("i64 where[", lane_strip, "] __attribute__((aligned(64)));"));
  code_.open(cat("for (i64 ", var, " = 0, n", var, " = ", dim(reduce.extent), "; ", var, " < n", var, "; ++", var, ")"));
  std::string lane = loop_over_lanes();
  write(reduce.body);
  code_.line(cat("see_lane(best", lane, ", where", lane, ", ", temp_name(reduce.args[0]), ", ", var, ", ", var,
                 " == 0, open, beats);"));
  code_.close();
  code_.close();
  loop_over_lanes();
  code_.line(cat("const i64 ", temp_name(given.dst), " = where", lane, ";"));
  for (size_t k = reduction + 1; k < stmt.body.size(); ++k) write(stmt.body[k]);
  code_.close();
}

}  // namespace accel
