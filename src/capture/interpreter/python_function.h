#pragma once
// Functions written in Python, described by what a call needs.

#include <string>
#include <utility>
#include <vector>

#include "capture/context/context.h"

namespace accel {

// The parts of a Python function from which a frame is made.
struct PythonFunction {
  Ref function;
  PyRef code, globals, builtins;
  std::vector<Ref> defaults;
  std::vector<std::pair<PyRef, Ref>> keyword_defaults;
  std::vector<Ref> closure;
};

// Whether a file belongs to NumPy. Frames of its code are not named in reports.
bool is_library_file(const std::string& file);

// Binds the arguments of a call to locals as CPython does: the first co_nlocalsplus entries of the result. Fails with
// will_raise.
Result<std::vector<Ref>> bind_call(Capture& capture, const PythonFunction& function, const CallArguments& arguments);

}  // namespace accel
