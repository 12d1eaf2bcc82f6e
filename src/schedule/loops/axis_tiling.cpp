#include "schedule/loops/axis_tiling.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>

#include "schedule/analysis/index_maps.h"
#include "schedule/program/edit.h"
#include "schedule/program/scalar_code.h"

namespace accel {

namespace {

constexpr int64_t tile_bytes = 1 << 15;
constexpr int64_t usual_distance = 128;  // assumed bytes between elements when the stride is not a constant
constexpr int64_t least_tile = 16, most_tile = 1024;

bool stores(const Body& body) {
  return std::any_of(body.begin(), body.end(), [](const Stmt& stmt) { return stmt.kind == StmtKind::store; });
}

class PlaneLoop {
 public:
  PlaneLoop(Program& program, const ParallelLoop& loop) : program_(program), dims_(program.dims), loop_(loop) {}

  bool run() {
    if (!find_blocks() || !find_nest() || uses_other_scalars()) return false;
    std::optional<int64_t> tile = tile_of(nest().body.back());
    if (!tile) return false;
    nest().work = dims_.mul(nest().work, iterations());
    rewrite(*tile);
    end_at_once();
    return true;
  }

 private:
  ProgramBlock& block(int b) { return program_.blocks[static_cast<size_t>(b)]; }
  Nest& nest() { return program_.nests[static_cast<size_t>(nest_)]; }
  Dim counter() { return dims_.symbol(symbol_); }
  Dim iterations() { return dims_.sub(loop_.end, counter()); }

  // Whether the loop is a header and a body, with the counter as the only scalar passed between iterations.
  bool find_blocks() {
    if (loop_.blocks.size() != 2 || loop_.step != 1 || loop_.leaves) return false;
    body_ = loop_.blocks[loop_.blocks[0] == loop_.header ? 1 : 0];
    const Edge& back = block(body_).edges[0];
    if (block(body_).end != BlockEnd::jump || back.target != loop_.header || !back.swaps.empty()) return false;
    if (back.scalars.size() != 1 || back.scalars[0].first != loop_.counter) return false;
    for (const BlockStep& step : block(loop_.header).steps) {
      if (step.kind != StepKind::scalars || stores(step.body)) return false;
      for (const Stmt& stmt : step.body) {
        if (stmt.kind != StmtKind::bind) continue;
        if (stmt.args[0] != loop_.counter || symbol_ >= 0) return false;
        symbol_ = *dims_.as_symbol(stmt.dim);
      }
    }
    return symbol_ >= 0;
  }

  // Whether the body runs one nest, a parallel loop over single elements with only scalars before it, and stores nothing else.
  bool find_nest() {
    for (const BlockStep& step : block(body_).steps) {
      if (step.kind == StepKind::nest && nest_ < 0)
        nest_ = step.nest;
      else if (step.kind != StepKind::scalars || stores(step.body) || nest_ < 0)
        return false;
    }
    if (nest_ < 0 || nest().body.empty()) return false;
    const Stmt& last = nest().body.back();
    Body scalars(nest().body.begin(), nest().body.end() - 1);
    return last.kind == StmtKind::loop && last.loop_kind == LoopKind::parallel && is_indexed_scalar_code(last.body) &&
           is_indexed_scalar_code(scalars) && !stores(scalars);
  }

  // Whether the nest uses scalars other than the counter that the loop's blocks compute in each iteration.
  bool uses_other_scalars() {
    std::set<TempId> changing, used;
    for (int b : loop_.blocks)
      for (const BlockStep& step : block(b).steps)
        for (const Stmt& stmt : step.body) changing.insert(stmt.dst);
    changing.erase(loop_.counter);
    collect_used(nest().body, used);
    return std::any_of(used.begin(), used.end(), [&](TempId temp) { return changing.contains(temp); });
  }

  static void collect_used(const Body& body, std::set<TempId>& out) {
    for (const Stmt& stmt : body) {
      out.insert(stmt.args.begin(), stmt.args.end());
      collect_used(stmt.body, out);
    }
  }

  // Elements per tile; nullopt when planes do not share cache lines.
  std::optional<int64_t> tile_of(const Stmt& loop) {
    int64_t apart = 0;
    for (const Stmt& stmt : loop.body) {
      if (stmt.kind != StmtKind::store) continue;
      std::optional<Dim> element = dims_.slope(stmt.address.offset, *dims_.as_symbol(loop.var)),
                         plane = dims_.slope(stmt.address.offset, symbol_);
      std::optional<int64_t> near = plane ? dims_.as_constant(*plane) : std::nullopt;
      if (!element || !near || *near == 0 || std::abs(*near) >= line_bytes) return std::nullopt;
      int64_t far = std::abs(dims_.as_constant(*element).value_or(usual_distance));
      if (far <= std::abs(*near)) return std::nullopt;
      apart = std::max(apart, far);
    }
    if (apart == 0) return std::nullopt;
    return std::clamp(tile_bytes / apart, least_tile, most_tile);
  }

  // Rewrites the nest to: parallel over tiles, serial over planes, vector loop over the elements of the tile.
  void rewrite(int64_t tile) {
    Body body = std::move(nest().body);
    Stmt elements = std::move(body.back());
    body.pop_back();
    Dim tiles = dims_.new_variable(), plane = dims_.new_variable(), lane = dims_.new_variable();
    Dim begin = dims_.mul(tiles, tile), all = elements.extent;
    substitute(dims_, elements.body, *dims_.as_symbol(elements.var), dims_.add(begin, lane));
    elements.var = lane;
    elements.extent = dims_.min(dims_.constant(tile), dims_.sub(all, begin));
    elements.loop_kind = LoopKind::simd;
    body.push_back(std::move(elements));
    body.insert(body.begin(), number(counter()));
    rename_counter(body, body.front().dst);
    Stmt planes = loop_over(plane, iterations(), LoopKind::serial, std::move(body));
    substitute(dims_, planes.body, symbol_, dims_.add(counter(), plane));
    Body inner;
    inner.push_back(std::move(planes));
    Dim count = dims_.floordiv(dims_.add(all, dims_.constant(tile - 1)), dims_.constant(tile));
    nest().body.clear();
    nest().body.push_back(loop_over(tiles, count, LoopKind::parallel, std::move(inner)));
  }

  // Computes an expression into a new temp.
  Stmt number(Dim value) {
    Stmt out;
    out.kind = StmtKind::index;
    out.dtype = DType::int64;
    out.dim = value;
    out.dst = program_.add_temp(DType::int64);
    return out;
  }

  void rename_counter(Body& body, TempId to) {
    for (Stmt& stmt : body) {
      std::replace(stmt.args.begin(), stmt.args.end(), loop_.counter, to);
      rename_counter(stmt.body, to);
    }
  }

  // Sets the counter to its end after the first iteration, as the nest now runs all iterations.
  void end_at_once() {
    Stmt last = number(loop_.end);
    block(body_).edges[0].scalars[0].second = last.dst;
    BlockStep step;
    step.body.push_back(std::move(last));
    block(body_).steps.push_back(std::move(step));
  }

  Program& program_;
  DimTable& dims_;
  const ParallelLoop& loop_;
  int body_ = -1, nest_ = -1, symbol_ = -1;
};

}  // namespace

Result<bool> tile_planes(ProgramState& state) {
  std::vector<ParallelLoop>& loops = state.program.parallel_loops;
  auto note = [&](const ParallelLoop& loop, const char* before, const char* after) {
    state.notes.push_back(before + std::to_string(loop.header) + after);
  };
  const size_t erased = std::erase_if(loops, [&](const ParallelLoop& loop) {
    if (!PlaneLoop(state.program, loop).run()) return false;
    note(loop, "the loop at block ", " fills planes tile by tile");
    return true;
  });
  for (const ParallelLoop& loop : loops) note(loop, "iterations of the loop at block ", " are independent");
  return erased > 0;
}

}  // namespace accel
