#pragma once
// A stand-in for compiled code: runs a function's micro-ops natively for a while, then hands the frame over to CPython.

#include <Python.h>

#include "cpython/bytecode/bytecode.h"
#include "cpython/frames/frame.h"

namespace accel::testing {

struct MiniOptions {
  long limit = -1;       // native instructions to run before the frame is handed over; -1: as many as can be run
  int inject = -1;       // index of the micro-op at which ValueError("injected") is raised
  bool visible = false;  // run under an open frame that Python code can see
};

struct MiniReport {
  long steps = 0;  // native instructions run
  int index = -1;  // micro-op where the run ended
  int ending = 0;  // 1: returned, 2: handed over, 3: raised
};

// Calls `function` with the arguments. New reference or null with an exception. The report is complete before the frame is
// handed over.
PyObject* run_mini(PyFunctionObject* function, PyObject* const* args, size_t nargsf, PyObject* kwnames,
                   const MiniOptions& options, MiniReport& report);

}  // namespace accel::testing
