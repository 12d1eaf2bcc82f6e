#pragma once
// Primitives: callables and attributes of NumPy and builtins that capture evaluates itself. The table is primitives.inc.
// Functions that NumPy implements in Python are no primitives: they are captured by tracing into their code.

#include <Python.h>

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "capture/domain/call_arguments.h"
#include "capture/domain/value.h"

namespace accel {

class Capture;

// Evaluates a call of `callable` (borrowed; for methods of a type, self is positional[0]) on abstract arguments. A Failure
// means the call is left to the interpreter: reason and detail go to the exit. A primitive must not leave partial effects when
// it fails.
using Primitive = Result<Ref> (*)(Capture& capture, PyObject* callable, const CallArguments& arguments);

// The primitive for a callable object, or null. ufuncs, ufunc methods, methods of ndarray and NumPy scalars included.
Primitive find_primitive(PyObject* callable);

// Python code equivalent to a builtin, which is walked instead of the builtin for iterables, for lists whose length is known at
// run time only, or for numbers that are known at run time only.
enum class FormOf : uint8_t { iterables, lists, numbers };
struct PythonForm {
  PyObject* function = nullptr;  // null: none; never freed
  FormOf of = FormOf::iterables;
};
PythonForm find_python_form(PyObject* callable);

// Whether a primitive accepts masked selections (masked_selection.h); for all others they are gathered first.
bool reads_lanes(Primitive primitive);

// Attribute `name` of an abstract array or NumPy scalar (shape, ndim, dtype, T, real, methods, ...).
Result<Ref> array_attribute(Capture& capture, const Ref& self, const std::string& name);
// self[index] of an array.
Result<Ref> array_getitem(Capture& capture, const Ref& self, const Ref& index);
// A binary operator of which at least one operand is an array or a scalar that is not constant. `op`: CPython's NB_* number;
// `inplace`: the augmented form, which stores into fresh whole arrays.
Result<Ref> array_binary(Capture& capture, int op, bool inplace, const Ref& left, const Ref& right,
                         Temporaries temporaries = {});
Result<Ref> array_unary(Capture& capture, char op, const Ref& operand);                  // '-', '+', '~'
Result<Ref> array_compare(Capture& capture, int op, const Ref& left, const Ref& right);  // Py_LT ... Py_GE

}  // namespace accel
