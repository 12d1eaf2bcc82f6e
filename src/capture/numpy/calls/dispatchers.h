#pragma once
// Calls of array function dispatchers, which NumPy makes before the function itself.

#include "capture/context/context.h"

namespace accel {

// NumPy's functions have dispatchers: Python functions that return the arguments which may override the function. Some iterate
// over an argument and raise if it is no iterable, although the function accepts it. Fails with will_raise if the dispatcher of
// `implementation` raises for these arguments or exhausts an iterator that the function needs.
Status check_dispatch(Capture& capture, PyObject* implementation, const CallArguments& arguments);

}  // namespace accel
