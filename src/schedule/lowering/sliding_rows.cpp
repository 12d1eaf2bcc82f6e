#include "schedule/lowering/sliding_rows.h"

#include <algorithm>
#include <bit>

#include "schedule/analysis/coalesce.h"
#include "schedule/lowering/nests.h"

namespace accel {

namespace {

// Rows at the ends of a block are computed in a separate nest and go through memory: fewer of them with longer blocks. Blocks
// run in parallel, so each thread needs several. Beyond `most_block_rows` no clear gain was measured
// (docs/developer/peepholes.md).
constexpr int64_t fewest_blocks = 16, fewest_block_rows = 16, most_block_rows = 64;

// Divides the rows into blocks that run in parallel. A row is computed into one of a few temporary rows of its block, and
// stored when no later row of the block reads what it overwrites. Rows at the ends of a block, which read rows of its
// neighbours, are computed by a nest that runs before anything is stored.
class RowWriter {
 public:
  RowWriter(const Graph& graph, const Placement& placement, Lowering& lowering, const RowStores& rows,
            const std::vector<StoreTarget>& targets)
      : graph_(graph), lowering_(lowering), dims_(lowering.dims()), rows_(rows), targets_(targets) {
    const Type& type = graph.type(targets_[0].value);
    shape_ = type.shape;
    order_ = type.axis_order();
    work_ = nest_work(graph, placement, dims_, targets_);
    index_.assign(shape_.size(), dims_.constant(0));
    count_ = shape_[order_[0]];
    row_elements_ = dims_.constant(1);
    for (size_t k = 1; k < order_.size(); ++k) row_elements_ = dims_.mul(row_elements_, shape_[order_[k]]);
  }

  std::vector<Nest> write() {
    std::vector<Nest> out;
    if (rows_.direct) {
      out.push_back(direct());
      return out;
    }
    find_blocks();
    if (rows_.before + rows_.after > 0) out.push_back(edges());
    out.push_back(blocks());
    return out;
  }

 private:
  Nest finished(const char* name, Dim work) {
    Nest nest;
    nest.name = name;
    nest.body = lowering_.end_nest();
    nest.work = work;
    return nest;
  }

  // Opens the loops within a row, the innermost as a vector loop; returns their number, 0 for a single axis.
  size_t open_row(Dim row) {
    index_[order_[0]] = row;
    for (size_t k = 1; k < order_.size(); ++k) {
      LoopKind kind = k + 1 == order_.size() ? LoopKind::simd : LoopKind::serial;
      index_[order_[k]] = lowering_.open_loop(kind, shape_[order_[k]], false);
    }
    return order_.size() - 1;
  }
  void close(size_t count) {
    for (size_t k = 0; k < count; ++k) lowering_.close_loop();
  }

  DType dtype(size_t k) const { return graph_.type(targets_[k].value).dtype; }
  Address place(size_t k) {
    return {targets_[k].buffer, dims_.add(targets_[k].base, offset_of(dims_, index_, targets_[k].strides))};
  }
  std::vector<TempId> values() {
    std::vector<TempId> out;
    for (const StoreTarget& target : targets_) out.push_back(lowering_.value_at(target.value, index_));
    return out;
  }

  Nest direct() {
    lowering_.begin_nest();
    Dim row = lowering_.open_loop(LoopKind::parallel, count_, false);
    size_t loops = open_row(row);
    std::vector<TempId> computed = values();
    for (size_t k = 0; k < targets_.size(); ++k) lowering_.store(place(k), computed[k], dtype(k));
    close(loops + 1);
    return finished("store", work_);
  }

  // --- blocks -----------------------------------------------------------------------------------------------------------

  void find_blocks() {
    const int64_t wanted = dims_.evaluate(count_, graph_.hints) / fewest_blocks;
    // A power of two, so that divisions by it are shifts.
    block_rows_ =
        static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::clamp(wanted, fewest_block_rows, most_block_rows))));
    waiting_ = rows_.before + 1;
    block_count_ = dims_.floordiv(dims_.add(count_, dims_.constant(block_rows_ - 1)), dims_.constant(block_rows_));
    Dim elements = dims_.mul(dims_.mul(block_count_, waiting_ + rows_.after), row_elements_);
    for (size_t k = 0; k < targets_.size(); ++k) kept_.push_back(lowering_.temp(dtype(k), elements, "rows"));
  }

  void open_block() {
    lowering_.begin_nest();
    block_ = lowering_.open_loop(LoopKind::parallel, block_count_, false);
    first_ = dims_.mul(block_, block_rows_);
    Dim rows = dims_.min(dims_.constant(block_rows_), dims_.sub(count_, first_));
    // Rows [start, end) of the block read no rows of other blocks.
    rows_here_ = rows;
    start_ = dims_.min(dims_.constant(rows_.before), rows);
    end_ = dims_.max(start_, dims_.sub(rows, dims_.constant(rows_.after)));
  }

  // The temporary row that a row of a block waits in: most rows share the first ones in rotation, rows at the end of the block
  // have one each.
  Dim waiting_place(Dim row) { return waiting_ == 1 ? dims_.constant(0) : dims_.mod(row, dims_.constant(waiting_)); }
  Dim end_place(Dim step) { return dims_.add(dims_.constant(waiting_), step); }

  Address kept(size_t k, Dim kept_row) {
    Dim row = dims_.add(dims_.mul(block_, waiting_ + rows_.after), kept_row), element = dims_.constant(0);
    for (size_t axis = 1; axis < order_.size(); ++axis)
      element = dims_.add(dims_.mul(element, shape_[order_[axis]]), index_[order_[axis]]);
    return {kept_[k], dims_.mul(dims_.add(dims_.mul(row, row_elements_), element), item_size(dtype(k)))};
  }

  void compute_row(Dim row, Dim kept_row) {
    size_t loops = open_row(dims_.add(first_, row));
    std::vector<TempId> computed = values();
    for (size_t k = 0; k < targets_.size(); ++k) lowering_.store(kept(k, kept_row), computed[k], dtype(k));
    close(loops);
  }
  void store_row(Dim row, Dim kept_row) {
    size_t loops = open_row(dims_.add(first_, row));
    for (size_t k = 0; k < targets_.size(); ++k)
      lowering_.store(place(k), lowering_.load(kept(k, kept_row), dtype(k)), dtype(k));
    close(loops);
  }

  Dim open_rows(Dim count) { return lowering_.open_loop(LoopKind::serial, count, false); }

  Nest edges() {
    open_block();
    Dim row = open_rows(start_);
    compute_row(row, waiting_place(row));
    close(1);
    Dim step = open_rows(dims_.sub(rows_here_, end_));
    compute_row(dims_.add(end_, step), end_place(step));
    close(2);
    Dim share = dims_.floordiv(dims_.mul(work_, rows_.before + rows_.after), dims_.constant(block_rows_));
    return finished("ends of blocks", share);
  }

  Nest blocks() {
    open_block();
    Dim before = dims_.constant(rows_.before);
    Dim step = open_rows(dims_.sub(end_, start_));
    Dim row = dims_.add(start_, step);
    compute_row(row, waiting_place(row));
    Dim ready = dims_.sub(row, before);
    store_row(ready, waiting_place(ready));
    close(1);
    Dim next = dims_.max(dims_.sub(end_, before), dims_.constant(0));
    Dim last = dims_.add(next, open_rows(dims_.sub(end_, next)));
    store_row(last, waiting_place(last));
    close(1);
    step = open_rows(dims_.sub(rows_here_, end_));
    store_row(dims_.add(end_, step), end_place(step));
    close(2);
    return finished("store by rows", work_);
  }

  const Graph& graph_;
  Lowering& lowering_;
  DimTable& dims_;
  const RowStores& rows_;
  const std::vector<StoreTarget>& targets_;
  std::vector<Dim> shape_;
  std::vector<uint8_t> order_;
  Index index_;
  Dim count_, row_elements_, work_;
  int64_t block_rows_ = 0, waiting_ = 0;
  Dim block_count_, block_, first_, rows_here_, start_, end_;
  std::vector<BufferId> kept_;  // temporary rows, per target
};

// The first index that a store writes along `axis` of its base.
Dim first_row(const Graph& graph, DimTable& dims, const Node& store, size_t axis) {
  Index index(graph.type(store.operands[1]).shape.size(), dims.constant(0));
  for (ValueId v = store.operands[1]; v != store.operands[0]; v = graph.producer(v).operands[0])
    index = map_view_index(dims, graph, graph.producer(v), index);
  return index[axis];
}

// 1 where 0 <= row < count, else 0.
Dim is_row(DimTable& dims, Dim row, bool may_precede, Dim count, bool may_follow) {
  Dim one = dims.constant(1), inside = one;
  auto clamped = [&](Dim d) { return dims.min(one, dims.max(d, dims.constant(0))); };
  if (may_precede) inside = clamped(dims.add(row, one));
  return may_follow ? dims.mul(inside, clamped(dims.sub(count, row))) : inside;
}

// Writes one loop over the rows of several shapes; each iteration stores a row of every value that has one.
Nest rows_of_several_shapes(const Graph& graph, const Placement& placement, Lowering& lowering, const RowStores& rows,
                            const std::vector<StoreTarget>& targets) {
  DimTable& dims = lowering.dims();
  std::vector<uint8_t> order = graph.type(targets[0].value).axis_order();
  std::vector<Dim> firsts, ends;
  for (size_t k = 0; k < targets.size(); ++k) {
    firsts.push_back(first_row(graph, dims, graph.nodes[static_cast<size_t>(rows.stores[k])], rows.row_axes[k]));
    ends.push_back(dims.add(firsts[k], graph.type(targets[k].value).shape[order[0]]));
  }
  Dim first = firsts[0], end = ends[0];
  for (Dim d : firsts) first = dims.min(first, d);
  for (Dim d : ends) end = dims.max(end, d);
  Nest nest;
  nest.name = "rows of several shapes";
  nest.work = nest_work(graph, placement, dims, targets);
  lowering.begin_nest();
  Dim place = dims.add(first, lowering.open_loop(LoopKind::parallel, dims.sub(end, first), false));
  for (size_t k = 0; k < targets.size(); ++k) {
    const Type& type = graph.type(targets[k].value);
    Index index(type.shape.size(), dims.constant(0));
    Dim row = index[order[0]] = dims.sub(place, firsts[k]);
    Dim inside = is_row(dims, row, firsts[k] != first, type.shape[order[0]], ends[k] != end);
    for (size_t level = 1; level < order.size(); ++level) {
      Dim extent = type.shape[order[level]];
      LoopKind kind = level + 1 == order.size() ? LoopKind::simd : LoopKind::serial;
      index[order[level]] = lowering.open_loop(kind, level == 1 ? dims.mul(extent, inside) : extent, false);
    }
    TempId value = lowering.value_at(targets[k].value, index);
    Dim offset = dims.add(targets[k].base, offset_of(dims, index, targets[k].strides));
    lowering.store({targets[k].buffer, offset}, value, type.dtype);
    for (size_t level = 1; level < order.size(); ++level) lowering.close_loop();
  }
  lowering.close_loop();
  nest.body = lowering.end_nest();
  return nest;
}

// Whether the values can be computed inside loops over rows.
bool fits_rows(const Graph& graph, const Placement& placement, const RowStores& rows) {
  bool apart = std::none_of(placement.places.begin(), placement.places.end(), [](Place p) { return p == Place::row; });
  return apart && std::none_of(rows.stores.begin(), rows.stores.end(), [&](NodeId n) {
           return needs_tiles(graph, placement, graph.nodes[static_cast<size_t>(n)].operands[2]);
         });
}

}  // namespace

Result<bool> slide_rows(SegmentState& state) {
  state.rows.reset();
  if (!state.by_rows) return false;
  std::optional<RowStores> found = row_stores(state.graph, state.stores, [&](ValueId v) {
    return state.graph.is_input(v) || state.placement.places[static_cast<size_t>(v)] != Place::inlined;
  });
  if (!found || !fits_rows(state.graph, state.placement, *found)) {
    compute_before_stores(state);
  } else if (found->copied.empty()) {
    state.rows = std::move(found);
  } else {
    state.forced.insert(found->copied.begin(), found->copied.end());
    state.again = true;
  }
  return true;
}

std::vector<Nest> lower_row_stores(const Graph& graph, const Placement& placement, Lowering& lowering, const RowStores& rows) {
  for (NodeId n : rows.stores) {
    const Node& node = graph.nodes[static_cast<size_t>(n)];
    lowering.set_root_buffer(node.results[0], lowering.root_buffer(node.operands[0]));
  }
  std::vector<StoreTarget> targets;
  for (NodeId n : rows.stores)
    targets.push_back(*store_target(graph, placement, lowering, graph.nodes[static_cast<size_t>(n)]));
  if (!rows.own_elements) return RowWriter(graph, placement, lowering, rows, targets).write();
  if (!rows.row_axes.empty()) return {rows_of_several_shapes(graph, placement, lowering, rows, targets)};
  std::vector<Nest> out = {lower_nest(graph, placement, lowering, targets)};
  out[0].name = "store";
  return out;
}

}  // namespace accel
