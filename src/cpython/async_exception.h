#pragma once
// Exceptions that other threads send to a thread (PyThreadState_SetAsyncExc).

#include <Python.h>

namespace accel {

// Whether one waits for the thread. May be read without the GIL: an answer that is out of date delays the exception.
inline bool has_async_exception(const PyThreadState* thread) { return thread->async_exc != nullptr; }

}  // namespace accel
