#pragma once
// NumPy's callables as primitives. The functions are listed in primitives.inc, which also declares them; ufuncs and their
// methods are found by type.

#include "capture/primitive.h"

namespace accel {

// The primitive of a ufunc object, or of a method bound to one (add.reduce). Null for everything else.
Primitive ufunc_primitive(PyObject* callable);

Result<Ref> numpy_ufunc_call(Capture& capture, PyObject* ufunc, const CallArguments& arguments);
Result<Ref> numpy_ufunc_reduce(Capture& capture, PyObject* callable, const CallArguments& arguments);
Result<Ref> numpy_ufunc_outer(Capture& capture, PyObject* callable, const CallArguments& arguments);

}  // namespace accel
