#pragma once
// InterleavedLoopWriter: loops over complex numbers in vectors that hold whole numbers (prelude part "interleaved"). The
// elements that do not fill a vector are left to a plain loop.

#include "codegen/emit/writer.h"

namespace accel {

class InterleavedLoopWriter : public Writer {
 public:
  using Writer::Writer;

  // The dtype of a loop's complex numbers when the loop is to be written in vectors of whole complex numbers.
  std::optional<DType> dtype_of(const Stmt& loop);
  void write_loop(const Stmt& stmt, DType dtype, const std::string& first, const std::string& last);

 private:
  void write_statement(const Stmt& stmt, const Stmt& loop);
  std::string elements(const Stmt& stmt, TempId number, const Stmt& loop);
};

}  // namespace accel
