#pragma once
// What the user has asked of one compiled function.

#include <string>

#include "cpython/py_ref.h"
#include "dispatch/versions/stance.h"

namespace accel {

struct DispatchOptions {
  bool fullgraph = false;
  bool disable = false;
  bool fixed_sizes = false;  // a version serves one size of each array
  PyRef backend;             // null: native; else called as PythonKernel says
  std::string backend_name = "native";

  // Whether a call has to be compiled as a whole. It may still be left for errors, warnings and failed checks; the stance
  // refuses these, too.
  bool must_be_full() const { return fullgraph || refuses_fallbacks(); }
};

}  // namespace accel
