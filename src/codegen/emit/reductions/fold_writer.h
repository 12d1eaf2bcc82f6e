#pragma once
// FoldWriter: reductions that combine elements one after the other, or in any order that gives NumPy's bits.

#include "codegen/emit/reductions/reduction_writer.h"

namespace accel {

class FoldWriter : public ReductionWriter {
 public:
  using ReductionWriter::ReductionWriter;

  void fold(const Stmt& stmt);

  // Writes what folded() names: a function that computes an element, and one that combines two.
  void write_folded(const Stmt& stmt);
  // The fold of elements [begin, end) from `first` on as an expression.
  std::string folded(const Stmt& stmt, const std::string& first, const std::string& begin, const std::string& end);
  std::string combined(const Stmt& stmt, const std::string& a, const std::string& b);
  // Whether the sign of a zero that a fold ends with depends on the order.
  bool is_extreme_of_floats(const Stmt& stmt) const;
};

}  // namespace accel
