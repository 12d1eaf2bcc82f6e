#pragma once
// How much a kernel has to do, as a number of element operations.

#include <cstdint>
#include <vector>

#include "guard/dim_program.h"
#include "ir/graph.h"

namespace accel {

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
  std::vector<Term> terms_;
};

}  // namespace accel
