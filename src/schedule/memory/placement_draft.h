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
  // Gives v row memory when it is needed at an index whose leading loops are the first `level` ones of its nest; memory of its
  // own otherwise.
  void place(ValueId v, int level, const Index& index, const char* why);
  // Marks v and the views that it is a view of as read from memory with strides: row memory holds a part of a value only.
  void read_with_strides(ValueId v);

  // The value to store so that v is in memory: v itself, or what v is a view of.
  ValueId computed_below(ValueId v) const;
  // Whether computing v where it is used may raise floating-point events.
  bool may_have_events(ValueId v) const;
  // Whether that may raise flags that are no events.
  bool may_touch_flags(ValueId v) const;
  // Of computing an element of v again, up to `budget`; `beside_tiles`: where the tiles of its nest are.
  int cost(ValueId v, int budget, bool beside_tiles = false) const;

  const Graph& graph;
  Placement placement;
  std::set<ValueId> strided;  // views that calls read as a whole
  std::vector<std::string>& notes;

 private:
  bool computes(ValueId v, const std::function<bool(const Node&)>& which) const;
};

}  // namespace accel
