#pragma once
// Estimate of a kernel's work, as a number of element operations.

#include <cstdint>
#include <vector>

#include "guard/dim_program.h"
#include "ir/graph.h"

namespace accel {

// The estimate when the work depends on the run: loops, or sizes bound at run time other than extents of calls' results.
constexpr int64_t unknown_work = int64_t{1} << 62;

class WorkEstimate {
 public:
  WorkEstimate() = default;
  explicit WorkEstimate(const Graph& graph);
  // The estimate from what is known before the run.
  int64_t evaluate(const int64_t* symbols) const;
  // Additional operations per element of the largest result of a call.
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
