#pragma once
// How much a kernel has to do, as a number of element operations.

#include <cstdint>
#include <vector>

#include "guard/dim_program.h"
#include "ir/graph.h"

namespace accel {

// What work counts as when only the run tells how much there is: loops, sizes bound at run time that are no extents of what
// calls give.
constexpr int64_t unknown_work = int64_t{1} << 62;

class WorkEstimate {
 public:
  WorkEstimate() = default;
  explicit WorkEstimate(const Graph& graph);
  // What is known before the run.
  int64_t evaluate(const int64_t* symbols) const;
  // For each element that the largest result of a call of the caller's has: what the run has to do beside that.
  int64_t per_given_element() const { return per_given_element_; }

 private:
  struct Term {
    DimProgram elements;
    int64_t nodes;
  };
  bool is_known_ = true;
  int64_t per_given_element_ = 0;
  std::vector<Term> terms_;
};

}  // namespace accel
