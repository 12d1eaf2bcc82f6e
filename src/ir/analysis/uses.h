#pragma once
// What uses a value.

#include <optional>
#include <set>
#include <vector>

#include "ir/graph.h"

namespace accel {

std::vector<NodeId> users_of(const Graph& graph, ValueId v);
// Whether a block hands one of them on, or an exit over.
bool is_handed_on(const Graph& graph, const std::set<ValueId>& values);

// A store without a mask, and the views that say where it stores.
struct SoleStore {
  NodeId store = -1;
  std::vector<NodeId> views;
};

// The store to v, if that and its views are all that uses v: no block hands one of them on, and they are not what is stored.
std::optional<SoleStore> sole_store(const Graph& graph, ValueId v);

}  // namespace accel
