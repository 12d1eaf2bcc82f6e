#pragma once
// Proofs that parts of arrays in a graph with control flow are disjoint.

#include <map>
#include <optional>

#include "ir/analysis/integers.h"

namespace accel {

class Disjointness {
 public:
  explicit Disjointness(const Graph& graph) : graph_(graph) {}

  // Whether two chains of views on one base are disjoint where both exist. False also when it cannot be proved.
  bool are_apart(ValueId a, ValueId b);

 private:
  // Indices along one axis of the base, both inclusive.
  struct Interval {
    Dim first, last;
  };

  DimTable& dims() { return integers_->dims(); }
  bool is_nonnegative(Dim d, BlockId block, int products);
  bool is_nonnegative_product(Dim d, int symbol, BlockId block, int products);
  std::map<int, Interval> box(ValueId v);

  const Graph& graph_;
  std::optional<Integers> integers_;  // made for the first proof
};

}  // namespace accel
