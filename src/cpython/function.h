#pragma once
// What the Python side may ask of functions and code objects without knowing their layout. Requires the GIL.

#include <Python.h>

namespace accel {

inline PyCodeObject* function_code(PyFunctionObject* function) {  // borrowed
  return reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(function));
}

// The function itself when `code` is its code, else a function of this code with the globals, builtins and closure of the
// function. New reference, null with an exception.
PyObject* function_with_code(PyFunctionObject* function, PyCodeObject* code);

// Runs the function in the interpreter whatever vectorcall it carries now. New reference.
PyObject* call_original(PyFunctionObject* function, PyObject* const* args, size_t nargsf, PyObject* kwnames);

// Whether the interpreter must run this code now because a tool watches it: tracing, profiling, monitoring; or because CPython
// has not brought its instrumentation up to date since the last change, which running it once does.
bool is_watched(PyCodeObject* code);

// Whether a call of a Python function would still fit under the recursion limits. Ask before running a function natively; when
// it does not fit, call_original raises the RecursionError.
bool has_recursion_room();

// Generators, coroutines and async generators.
bool is_generator_code(PyCodeObject* code);

// Whether a frame of this code can be built and passed to the interpreter: no generator, and its locals are no dict.
bool can_hand_over(PyCodeObject* code);

enum class LocalKind { plain, cell, free };  // cell: also an argument that is captured by an inner function

int local_count(PyCodeObject* code);                 // localsplus: locals, cells, free variables
PyObject* local_name(PyCodeObject* code, int slot);  // borrowed
LocalKind local_kind(PyCodeObject* code, int slot);
int free_variable_count(PyCodeObject* code);  // the last locals
int argument_count(PyCodeObject* code);       // leading locals that are parameters, *args and **kwargs included
int stack_size(PyCodeObject* code);

}  // namespace accel
