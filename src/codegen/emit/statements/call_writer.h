#pragma once
// CallWriter: calls of NumPy's loops through the import table, and what takes their place: estimates for numbers that are only
// compared, products of vectors and of matrices by vectors that the prelude works out.

#include "codegen/emit/writer.h"

namespace accel {

class CallWriter : public Writer {
 public:
  using Writer::Writer;

  void call(const Stmt& stmt);
  // A call for one number (stand_in), which is body[place].
  void call_for_one(const Body& body, size_t position);
  void gufunc(const Stmt& stmt);

 private:
  void library_call(const Stmt& stmt, const std::string& function, std::vector<std::string> dims,
                    std::vector<std::string> strides);
};

}  // namespace accel
