#pragma once

#include <Python.h>

namespace accel {

// The result of `work()`, called without the GIL. Requires the GIL.
template <class Work>
auto without_gil(const Work& work) -> decltype(work()) {
  PyThreadState* thread = PyEval_SaveThread();
  auto result = work();
  PyEval_RestoreThread(thread);
  return result;
}

}  // namespace accel
