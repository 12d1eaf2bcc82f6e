#pragma once
// The element of a value at an index is computed once per scope (memoised), in the innermost scope that binds a variable of the
// index: work that does not depend on inner loops is hoisted by construction.

#include <memory>
#include <optional>
#include <vector>

#include "ir/analysis/reduction_plan.h"
#include "schedule/analysis/index_maps.h"
#include "schedule/lowering/statements.h"
#include "schedule/memory/placement.h"
#include "schedule/program/program.h"

namespace accel {

constexpr int64_t tile_elements = 1024;  // elements of a tile: its scratch stays in L1

// A value to store for every element of a loop nest, at: buffer + base + sum of index[k] * strides[k].
struct StoreTarget {
  ValueId value = no_value;
  BufferId buffer = -1;
  Dim base;
  std::vector<Dim> strides;  // per axis of the nest's index
  bool copied = false;       // another nest computes the value: it is read if it has memory
};

class ReductionLowering;
class TileLowering;

class Lowering : public StatementLowering {
 public:
  Lowering(const Graph& graph, const Placement& placement, Program& program);
  ~Lowering();

  const Graph& graph() const { return graph_; }
  const Placement& placement() const { return placement_; }
  ReductionLowering& reductions() { return *reductions_; }
  TileLowering& tiles() { return *tiles_; }
  const std::vector<Failure>& errors() const { return errors_; }
  void fail_with(Failure failure) { errors_.push_back(std::move(failure)); }

  // The buffer of a root value: an output or a temp, created on first use.
  BufferId root_buffer(ValueId v);
  // Sets the buffer that root_buffer(v) returns from now on.
  void set_root_buffer(ValueId v, BufferId buffer) { root_buffers_[v] = buffer; }
  // Address of element `index` of a value that has memory or is a view of one that has; nullopt otherwise.
  std::optional<Address> located(ValueId v, const Index& index);

  // --- loops ----------------------------------------------------------------------------------------------------------
  void begin_nest();
  // Records that the innermost open loop, over `variables`, is the next outer loop of the nest. Rows are local to iterations of
  // outer loops.
  void mark_outer_loop(std::vector<Dim> variables);
  // The variables of each outer loop.
  const std::vector<std::vector<int>>& outer_loops() const { return outer_loops_; }

  // --- values ---------------------------------------------------------------------------------------------------------
  // A temp with the element of v at index, computed once per scope.
  TempId value_at(ValueId v, const Index& index);
  // A temp with the element of v at index, computed even when v has memory: for the code that fills this memory.
  TempId computed(ValueId v, const Index& index);
  // The element of v at index, computed from single elements of its operands.
  TempId element_at(ValueId v, const Node& node, const Index& index);
  // Records that `temp` holds the element of v at index, in the innermost open scope.
  void set_value(ValueId v, const Index& index, TempId temp) { innermost().temps[{v, index}] = temp; }
  // Stores the targets for all values of index[axis] of the innermost axis, which runs over `extent` elements from `begin`.
  // Requires an open scope that holds tiles.
  void store_tile(const std::vector<StoreTarget>& targets, Index index, int axis, Dim begin, Dim extent);
  // Stores the targets' elements at an index.
  void store_elements(const std::vector<const StoreTarget*>& targets, const Index& index);
  Address address_of(const StoreTarget& target, const Index& index);
  // The value that a target stores at an index: computed, or read when the value has memory elsewhere.
  TempId stored_value(const StoreTarget& target, const Index& index);
  TempId compute(Op op, std::vector<TempId> args, DType dtype, NodeId node);
  TempId cast(TempId temp, DType to, NodeId node);
  // The index of `operand` for element `position` of a run along `axes`.
  Index run_index(ValueId operand, Index index, const std::vector<int>& axes, Dim position);
  // The number of last axes of v that can be walked as one in memory: at least 1, unless v has none.
  size_t count_in_row(ValueId v);
  const ReductionPlan& plan_of(ValueId v) const { return placement_.plans.at(graph_.values[v].producer); }

 private:
  TempId compute_at(ValueId v, const Index& index);
  TempId leaf_at(ValueId v, const Node& node, const Index& index);
  TempId arange_at(ValueId v, const Node& node, const Index& index);
  TempId view_at(ValueId v, const Node& node, const Index& index);
  TempId element_of_scalar(ValueId view, const Index& index);
  TempId gather_at(ValueId v, const Node& node, const Index& index);
  TempId pointwise_at(ValueId v, const Node& node, const Index& index);
  bool computed_here(const StoreTarget& target);
  bool is_call(ValueId v) const;
  bool calls_tiles(ValueId v) const;  // whether computing v itself needs loops over tiles

  const Graph& graph_;
  const Placement& placement_;
  Program& program_;
  DimTable& dims_;
  std::vector<std::vector<int>> outer_loops_;
  std::vector<BufferId> root_buffers_;
  std::vector<Failure> errors_;
  std::unique_ptr<ReductionLowering> reductions_;
  std::unique_ptr<TileLowering> tiles_;
};

}  // namespace accel
