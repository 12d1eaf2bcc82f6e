#pragma once
// A placement that is being decided.

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "schedule/analysis/index_maps.h"
#include "schedule/memory/placement.h"

namespace accel {

struct PlacementDraft {
  PlacementDraft(const Graph& whole, std::vector<std::string>& decisions);

  // Gives v memory of its own.
  void make_root(ValueId v, const char* why);
  // Gives v row memory when the first `level` loops of its nest determine leading axes of the index it is needed at; otherwise
  // makes it a root.
  void place(ValueId v, int level, const Index& index, const char* why);
  // Marks v and the views below it as read from memory with strides. Such values get no row memory, which holds only a part of
  // a value.
  void read_with_strides(ValueId v);

  // The value to store so that v is in memory: v itself, or the value that it is a view of.
  ValueId computed_below(ValueId v) const;
  // Whether computing v where it is used may raise floating-point events.
  bool may_have_events(ValueId v) const;
  // Whether computing v where it is used may set floating-point flags that NumPy does not report.
  bool may_touch_flags(ValueId v) const;
  // The cost of recomputing an element of v, computed up to `budget`; `beside_tiles`: values in tiles are available.
  int cost(ValueId v, int budget, bool beside_tiles = false) const;

  const Graph& graph;
  Placement placement;
  std::set<ValueId> strided;  // views that are read from memory with strides
  std::vector<std::string>& notes;

 private:
  bool computes(ValueId v, const std::function<bool(const Node&)>& which) const;
};

}  // namespace accel
