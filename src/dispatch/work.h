#pragma once
// How much a kernel has to do, as a number of element operations.

#include <cstdint>
#include <vector>

#include "guard/dim_program.h"
#include "ir/graph.h"

namespace accel {

// What work counts as when only the run tells how much there is: loops, sizes bound at run time.
constexpr int64_t unknown_work = int64_t{1} << 62;

class WorkEstimate {
 public:
  WorkEstimate() = default;
  explicit WorkEstimate(const Graph& graph);
  int64_t evaluate(const int64_t* symbols) const;

 private:
  struct Term {
    DimProgram elements;
    int64_t nodes;
  };
  bool is_known_ = true;
  std::vector<Term> terms_;
};

}  // namespace accel
