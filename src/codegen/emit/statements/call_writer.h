#pragma once
// CallWriter: calls of NumPy's loops through the import table, and their replacements: estimates for numbers that are only
// compared, and products of vectors and of matrices by vectors that the prelude computes.

#include "codegen/emit/writer.h"

namespace accel {

class CallWriter : public Writer {
 public:
  using Writer::Writer;

  void call(const Stmt& stmt);
  // A call for one number (estimate_of): statement body[position].
  void call_for_one(const Body& body, size_t position);
  void gufunc(const Stmt& stmt);

 private:
  void library_call(const Stmt& stmt, const std::string& function, std::vector<std::string> dims,
                    std::vector<std::string> strides);
};

}  // namespace accel
