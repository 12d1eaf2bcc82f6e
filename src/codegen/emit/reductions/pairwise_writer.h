#pragma once
// PairwiseWriter: sums in the order of NumPy's pairwise summation, of all elements or of those that a mask selects.

#include "codegen/emit/reductions/reduction_writer.h"

namespace accel {

class PairwiseWriter : public ReductionWriter {
 public:
  using ReductionWriter::ReductionWriter;

  void pairwise(const Stmt& stmt);
  void masked_pairwise(const Stmt& stmt);

  // Writes what tree() names: a pointer to elements that lie side by side, or a function that computes an element.
  void write_source(const Stmt& stmt);
  // The sum of `count` elements from `begin` on as an expression.
  std::string tree(const Stmt& stmt, const std::string& begin, const std::string& count);
  // Writes the sum of a short run of a known length without a tree, into a declared temp. False: it is no such run.
  bool straight_pairwise(const Stmt& stmt);

 private:
  std::optional<std::string> contiguous_source(const Stmt& stmt);
};

// The prelude's type that adds elements of a dtype.
std::string sum_of(DType element);

}  // namespace accel
