#pragma once
// Bounds: what a graph with control flow tells about its symbols, so that parts of arrays can be told apart.

#include <map>
#include <optional>
#include <set>

#include "ir/analysis/flow.h"

namespace accel {

class Bounds {
 public:
  explicit Bounds(const Graph& graph);

  // Whether d >= 0 wherever all its symbols have values. False: not known.
  bool is_nonnegative(Dim d);
  // Whether two chains of views on one base have no element in common. False: not known.
  bool are_apart(ValueId a, ValueId b);

 private:
  // Elements of one axis of the base: first, last.
  struct Interval {
    Dim first, last;
  };
  struct Range {
    std::optional<Dim> lowest, highest;
  };

  std::optional<Dim> dim_of(ValueId v);
  void find_range(int symbol, ValueId v);
  void find_end(const Terminator& t, ValueId counter, bool ascending, Range& range);
  bool manifest(Dim d) const;
  bool prove(Dim d, int budget);
  std::map<int, Interval> box(ValueId v);

  const Graph& graph_;
  DimTable dims_;
  std::vector<std::vector<BlockId>> before_;
  std::set<int> nonnegative_;  // extents of the entry, and variables that stand for any number >= 0
  std::map<int, Range> ranges_;
};

}  // namespace accel
