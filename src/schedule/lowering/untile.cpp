#include "schedule/lowering/untile.h"

#include <algorithm>
#include <optional>

#include "schedule/lowering/lowering.h"

namespace accel {

namespace {

// Replaces the loop over tiles (`outer`) and the loop over a tile's elements (`inner`) by one loop over `inner`'s variable.
class Untiling {
 public:
  Untiling(DimTable& dims, const Stmt& outer, const Stmt& inner)
      : dims_(dims), tile_(*dims.as_symbol(outer.var)), element_(*dims.as_symbol(inner.var)) {
    moved_ = dims_.sub(inner.var, dims_.mul(outer.var, tile_elements));
  }

  // The extent over all tiles, when the extent of `inner` is min(tile_elements, extent - tile * tile_elements).
  std::optional<Dim> extent_of(const Stmt& outer, const Stmt& inner) {
    if (dims_.kind(inner.extent) != DimKind::min) return std::nullopt;
    for (Dim d : dims_.operands(inner.extent)) {
      Dim all = dims_.add(d, dims_.mul(outer.var, tile_elements));
      if (!dims_.as_constant(d) && !dims_.names(all, tile_)) return all;
    }
    return std::nullopt;
  }

  // Rewrites the body for the joined loop; false when something else depends on the tile.
  bool rewrite(Body& body) {
    return std::all_of(body.begin(), body.end(), [&](Stmt& stmt) {
      if (!stmt.operands.empty() || !rewrite(stmt.body)) return false;
      for (Dim* d : {&stmt.extent, &stmt.address.offset, &stmt.dim})
        if (d->id >= 0 && !rewrite(*d)) return false;
      return true;
    });
  }

 private:
  bool rewrite(Dim& d) {
    d = dims_.substitute(d, element_, moved_);
    return !dims_.names(d, tile_);
  }

  DimTable& dims_;
  int tile_, element_;
  Dim moved_;
};

void untile(DimTable& dims, Stmt& stmt) {
  untile(dims, stmt.body);
  if (stmt.kind != StmtKind::loop || stmt.body.size() != 1) return;
  const Stmt& inner = stmt.body[0];
  if (inner.kind != StmtKind::loop || inner.loop_kind != LoopKind::simd) return;
  Untiling untiling(dims, stmt, inner);
  std::optional<Dim> extent = untiling.extent_of(stmt, inner);
  Stmt made = inner;
  if (!extent || !untiling.rewrite(made.body)) return;
  made.extent = *extent;
  if (stmt.loop_kind == LoopKind::parallel) made.loop_kind = LoopKind::parallel;
  stmt = std::move(made);
}

}  // namespace

void untile(DimTable& dims, Body& body) {
  for (Stmt& stmt : body) untile(dims, stmt);
}

}  // namespace accel
