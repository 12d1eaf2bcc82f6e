#pragma once
// What NumPy asks of the arguments of a function before the function itself runs.

#include "capture/context/context.h"

namespace accel {

// NumPy's functions have dispatchers: Python functions that name the arguments which may override the function. Some iterate
// over an argument, and raise where that is no iterable, although the function would take it. Fails with will_raise where the
// dispatcher of `implementation` raises for such arguments, and where it uses up an iterator that the function wants to read.
Status check_dispatch(Capture& capture, PyObject* implementation, const CallArguments& arguments);

}  // namespace accel
