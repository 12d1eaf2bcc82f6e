#pragma once
// Speculation: what may be computed where it is not needed, so that both sides of a branch can be merged.

#include <memory>
#include <vector>

#include "ir/analysis/integers.h"

namespace accel {

// What it takes to compute a node of one side before the branch.
enum class Speculated : uint8_t {
  free,      // constants and views
  computed,  // numbers without events
  moved,     // one element read, or stored where it has been read before
  refused
};

// Requires that the graph outlives it; nodes may be added, and blocks joined with those that dominate them, meanwhile.
class Speculation {
 public:
  explicit Speculation(const Graph& graph) : graph_(graph), dominance_(graph), origins_(pinned_inputs(graph)) {}

  // Classifies a node that would be computed at the end of `at`, the block that branches.
  Speculated look_at(const Node& node, BlockId at);

 private:
  bool is_harmless(const Node& node) const;
  bool is_positive_constant(ValueId v) const;
  bool is_load(const Node& node) const;
  bool is_element_store(const Node& node) const;
  bool is_loaded_before(ValueId view, BlockId at) const;
  ValueId base_of(ValueId v) const;
  bool is_same_memory(ValueId a, ValueId b) const;
  bool is_in_range(ValueId view, BlockId at);
  bool is_slice_in_range(const Node& slice, BlockId at);

  const Graph& graph_;
  Dominance dominance_;
  std::vector<int> origins_;
  std::unique_ptr<Integers> integers_;  // made when something has to be proved
};

}  // namespace accel
