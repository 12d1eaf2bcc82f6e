#pragma once
// Bounds of the symbols of a graph with control flow, used to prove that parts of arrays are disjoint.

#include <map>
#include <optional>
#include <set>

#include "ir/analysis/flow.h"

namespace accel {

class Bounds {
 public:
  explicit Bounds(const Graph& graph);

  // Whether d >= 0 for all values that its symbols take. False also when it cannot be proved.
  bool is_nonnegative(Dim d);
  // Whether two chains of views on one base are disjoint. False also when it cannot be proved.
  bool are_apart(ValueId a, ValueId b);

 private:
  // Indices along one axis of the base, both inclusive.
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
  std::set<int> nonnegative_;  // extents of the inputs, and fresh variables that stand for any number >= 0
  std::map<int, Range> ranges_;
};

}  // namespace accel
