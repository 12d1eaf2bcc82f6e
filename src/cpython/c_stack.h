#pragma once
// The C stack of this thread, and CPython's count of C recursion. A call of a compiled function uses C stack, which a call
// between Python functions does not: where the stack ends, calls continue on a further one, so that they nest as deep as calls
// between Python functions.

#include <Python.h>

#include <cstddef>

namespace accel {

// Bytes that are left on the stack that this thread runs on.
size_t stack_bytes_left();

// What a call of a compiled function needs at most, kernels and the interpreter's own C functions included.
constexpr size_t stack_reserve = 256 * 1024;

// Whether a call should be made by call_on_new_stack. Costs next to nothing.
inline bool is_stack_low() { return stack_bytes_left() < stack_reserve; }

using StackBody = PyObject* (*)(void* context);

// body(context) on a further stack of this thread. Null with RecursionError when there is no memory for one.
PyObject* call_on_new_stack(StackBody body, void* context);

// What CPython's evaluator takes of the limit of C recursion where it is entered from C, on 3.12 and 3.13.
constexpr int evaluator_units = 2;

// Gives back what an evaluator that is entered from C takes of the limit of C recursion, for as long as this lives and while
// there is real stack left.
class RecursionCredit {
 public:
  RecursionCredit(PyThreadState* thread, int units) : thread_(thread), units_(is_stack_low() ? 0 : units) { give(units_); }
  ~RecursionCredit() { give(-units_); }
  RecursionCredit(const RecursionCredit&) = delete;

 private:
  void give([[maybe_unused]] int units) {
#if PY_VERSION_HEX >= 0x030C0000 && PY_VERSION_HEX < 0x030E0000  // later the stack itself is the limit
    thread_->c_recursion_remaining += units;
#endif
  }
  [[maybe_unused]] PyThreadState* thread_;
  int units_;
};

}  // namespace accel
