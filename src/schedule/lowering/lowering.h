#pragma once
// Lowering: writes the statements that compute values at an index, each at the outermost loop level its index allows.
//
// Scopes are the open loops, outermost first. A value asked for at an index is computed once per scope (the memo), in
// the innermost scope that binds a variable of the index: work that does not depend on inner loops is hoisted by construction.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/analysis/reduction_plan.h"
#include "schedule/analysis/index_maps.h"
#include "schedule/memory/placement.h"
#include "schedule/program/program.h"

namespace accel {

constexpr int64_t tile_elements = 1024;  // elements of a tile: its scratch stays in L1

// A value to store for every element of a loop nest: at buffer + base + sum of index * stride.
struct StoreTarget {
  ValueId value = no_value;
  BufferId buffer = -1;
  Dim base;
  std::vector<Dim> strides;  // per axis of the nest's index
  bool copied = false;       // the nest of the value is another one: it is read from memory if it has any
};

class Lowering {
 public:
  Lowering(const Graph& graph, const Placement& placement, Program& program);

  DimTable& dims() { return dims_; }
  // Memory of a root value: its output or a temp, created on first use.
  BufferId root_buffer(ValueId v);
  // Address of a value that has memory (views of such included) at index; nullopt otherwise.
  std::optional<Address> located(ValueId v, const Index& index);
  int import_of(const LoopImport& import) { return program_.add_import(import); }
  const std::vector<Failure>& errors() const { return errors_; }
  void fail_with(Failure failure) { errors_.push_back(std::move(failure)); }

  // --- loops ----------------------------------------------------------------------------------------------------------
  // Starts a nest: scope 0, not a loop. end_nest returns its body.
  void begin_nest();
  Body end_nest();
  // Opens a loop over [0, extent); close_loop appends it to the enclosing scope. `holds_tiles`: the loops inside are tiles.
  Dim open_loop(LoopKind kind, Dim extent, bool holds_tiles);
  void open_loop_over(Dim variable, LoopKind kind, Dim extent, bool holds_tiles);
  void close_loop();
  // The same for a serial loop, whose last round is that in which `more` is 0.
  void close_loop_while(TempId more);
  void append(Stmt stmt) { scopes_.back()->body.push_back(std::move(stmt)); }
  // Declares that the innermost open loops so far are the nest's first ones, one per axis: rows are local to them.
  void mark_outer_loop(std::vector<Dim> variables);

  // --- values -------------------------------------------------------------------------------------------------------
  // A temp with the element of v at index, computed once per scope.
  TempId value_at(ValueId v, const Index& index);
  // The same, computed even when v has memory: for the code that fills it.
  TempId computed(ValueId v, const Index& index);
  // Stores the targets for all values of index[axis] of the innermost axis, which runs over `extent` elements from `begin`.
  // Requires an open scope that holds tiles.
  void store_tile(const std::vector<StoreTarget>& targets, Index index, int axis, Dim begin, Dim extent);
  void store(const Address& address, TempId value, DType dtype);
  // What a target stores for an index: computed, or read from the memory that its value has elsewhere.
  TempId stored_value(const StoreTarget& target, const Index& index);
  // The element of v at index is `temp`, in the innermost open scope.
  void set_value(ValueId v, const Index& index, TempId temp) { scopes_.back()->temps[{v, index}] = temp; }
  // Appends a statement that gives a new temp its value.
  TempId emit(Stmt stmt, DType dtype);
  TempId compute(Op op, std::vector<TempId> args, DType dtype, NodeId node);
  TempId load(const Address& address, DType dtype);
  TempId literal(Literal value);
  TempId cast(TempId temp, DType to, NodeId node);
  TempId declare(TempId start, DType dtype);
  void assign(TempId variable, TempId value, DType dtype);
  BufferId scratch(DType dtype, Dim elements, std::string name);
  BufferId temp(DType dtype, Dim elements, std::string name);  // memory that all nests see
  // Opens the body of a reducing statement over a new variable; close_reducing appends it and returns its result.
  Dim open_reducing(StmtKind kind, Dim extent);
  TempId close_reducing(Stmt details, DType dtype);
  // Index of element `position` of a run along `axes`.
  Index run_index(ValueId operand, Index index, const std::vector<int>& axes, Dim position);
  // How many of the last axes of v are one run in memory; at least 1, if there are any.
  size_t count_in_row(ValueId v);
  // Memory that is the value's: root_buffer(v) from now on.
  void set_root_buffer(ValueId v, BufferId buffer) { root_buffers_[v] = buffer; }

 private:
  using Key = std::pair<ValueId, Index>;
  struct KeyLess {
    bool operator()(const Key& a, const Key& b) const;
  };
  struct Scope {
    Body body;
    Stmt header;  // the loop; scope 0 has none
    bool holds_tiles = false;
    std::map<Key, TempId, KeyLess> temps;
    std::map<Key, Address, KeyLess> tiles;  // value at index in memory of a tile: address over the inner loop's variable
    std::map<Key, BufferId, KeyLess> rows;  // value and its index, -1 along the axes of the row
  };
  class Cut;  // works in an outer scope while inner ones stay open

  int scope_of(const Index& index) const;

  TempId compute_at(ValueId v, const Index& index);
  TempId leaf_at(ValueId v, const Node& node, const Index& index);
  TempId arange_at(ValueId v, const Node& node, const Index& index);
  TempId view_at(ValueId v, const Node& node, const Index& index);
  TempId element_of_scalar(ValueId view, const Index& index);
  TempId gather_at(ValueId v, const Node& node, const Index& index);
  TempId pointwise_at(ValueId v, const Node& node, const Index& index);
  TempId element_at(ValueId v, const Node& node, const Index& index);
  TempId tiled_at(ValueId v, const Index& index);

  TempId reduction_at(ValueId v, const Node& node, const Index& index);
  TempId plan_at(ValueId v, const Node& node, const Index& index);
  TempId fold_at(ValueId v, const Node& node, const Index& index);
  TempId sequential_at(ValueId v, const Node& node, const Index& index, const std::vector<int>& axes);
  const ReductionPlan& plan_of(ValueId v) const { return placement_.plans.at(graph_.values[v].producer); }
  TempId runs_at(ValueId v, const Node& node, const Index& index);
  TempId pieces_at(ValueId v, const Node& node, const Index& index, TempId total);
  TempId piece_at(ValueId v, const Node& node, const Index& index, Dim begin, Dim extent, TempId total);
  TempId masked_at(ValueId v, const Node& node, const Index& index, Dim begin, Dim extent, TempId total);
  TempId tree_at(ValueId v, const Node& node, const Index& index, Dim begin, Dim extent, int64_t chunk);
  TempId combined_at(ValueId v, const Node& node, const Index& index, TempId total);
  TempId half_product_at(ValueId v, const Node& node, const Index& index, Dim begin, Dim extent, TempId total);
  TempId add_to(ValueId v, TempId total, TempId piece);
  TempId argreduce_at(ValueId v, const Node& node, const Index& index);
  TempId start_of(ValueId v, const Node& node, const Index& operand_index);
  Index operand_index(const Node& node, const Index& index, Dim reduced_value) const;
  Dim run_extent(const Node& node, const std::vector<int>& axes);

  bool in_tile(const Index& index) const;
  bool computed_here(const StoreTarget& target);
  bool calls_tiles(ValueId v) const;  // whether computing v itself needs loops over tiles of its own
  TempId call_at(ValueId v, const Node& node, const Index& index);
  Address call_tile(ValueId v, const Node& node, const Index& index, Dim variable, Dim extent, const Address* destination);
  Address column_tile(ValueId v, const Node& node, const Index& index, Dim variable, Dim extent);
  // Operand v of `node`.
  CallOperand call_operand(ValueId v, const Node& node, const Index& index, Dim variable, Dim extent);
  CallOperand copied_operand(ValueId v, const Node& node, const Index& index, Dim variable, Dim extent);
  void fill_tile(const Address& tile, ValueId v, const Index& index, Dim variable, Dim extent);
  bool may_walk_backwards(Dim stride);
  Address new_tile(DType dtype, Dim variable, Dim extent);
  std::optional<Address> row_at(ValueId v, const Index& index);
  BufferId fill_row(ValueId v, const Index& index, const std::vector<int>& axes);

  const Graph& graph_;
  const Placement& placement_;
  Program& program_;
  DimTable& dims_;
  std::vector<std::unique_ptr<Scope>> scopes_;
  std::vector<std::vector<int>> outer_loops_;
  std::vector<BufferId> root_buffers_;
  std::vector<Failure> errors_;
};

}  // namespace accel
