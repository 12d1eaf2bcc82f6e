#pragma once
// ArgreduceWriter: argmin and argmax. Extremes of square roots compare the squares, and roots where squares do not decide.

#include "codegen/emit/reductions/reduction_writer.h"

namespace accel {

// What an argreduce compares.
struct Extremes {
  Stmt stmt;          // without the roots, if any
  bool roots;         // compared are the roots of its elements
  std::string order;  // arguments of RootOrder, or the element type
  std::string type() const;
};

class ArgreduceWriter : public ReductionWriter {
 public:
  using ReductionWriter::ReductionWriter;

  void argreduce(const Stmt& stmt);

  // Writes `beats`, the order of the elements.
  Extremes write_beats(const Stmt& stmt);
  // The extreme of elements [begin, end) as an expression. Requires `beats` and the element's function.
  std::string extreme(const Stmt& stmt, const std::string& begin, const std::string& end);

 private:
  std::optional<Stmt> over_squares(const Stmt& stmt) const;
};

}  // namespace accel
