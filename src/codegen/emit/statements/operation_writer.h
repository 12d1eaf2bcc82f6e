#pragma once
// OperationWriter: one operation on numbers (compute), as the text of its op's row, worded so that g++ neither drops its
// floating-point events nor makes jumps of choices between numbers.

#include "codegen/emit/writer.h"

namespace accel {

class OperationWriter : public Writer {
 public:
  using Writer::Writer;

  void compute(const Stmt& stmt);

 private:
  std::vector<std::string> operands_of(const Stmt& stmt) const;
  std::string value_of(const Stmt& stmt, const std::vector<std::string>& operands) const;
  bool is_held(const Stmt& stmt) const;
  bool may_be_foreseen(const Stmt& comparison, size_t operand) const;
  bool may_give_constant(const Stmt& stmt, size_t operand) const;
  bool is_narrow_mask(TempId temp, int size) const;
  bool chooses_constants(const Stmt& stmt) const;
  bool is_loaded(TempId temp) const;
};

}  // namespace accel
