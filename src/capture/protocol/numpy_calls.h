#pragma once
// NumPy's callables as primitives. The functions are listed in primitives.inc, which also declares them; ufuncs and their
// methods are found by type.

#include "capture/protocol/primitive.h"

namespace accel {

// The primitive of a ufunc, or of a bound or unbound ufunc method (add.reduce); null for other objects.
Primitive ufunc_primitive(PyObject* callable);

// The primitive of a method of numpy.random.Generator or RandomState; null for other callables.
Primitive generator_primitive(PyObject* callable);

// A call of a ufunc's method, split into the ufunc (borrowed) and the remaining arguments.
struct UfuncMethod {
  PyObject* ufunc;
  CallArguments arguments;
};
Result<UfuncMethod> split_ufunc_method(PyObject* callable, const CallArguments& arguments);

// array.flags, and an assignment to one of them.
Result<Ref> array_flags(Capture& capture, const Ref& array);
Status set_array_flag(Capture& capture, const Ref& flags, PyObject* name, const Ref& value);
// flat[index] of array.flat (flat_iterator.h), which is a copy, and flat[index] = value.
Result<Ref> flat_getitem(Capture& capture, const Ref& flat, const Ref& index);
Status flat_setitem(Capture& capture, const Ref& flat, const Ref& index, const Ref& value);
// The items of a numpy.broadcast of integers; nullopt for other values.
Result<std::optional<std::vector<Ref>>> items_of_object(Capture& capture, const Ref& value);

Result<Ref> numpy_ufunc_call(Capture& capture, PyObject* ufunc, const CallArguments& arguments);
Result<Ref> numpy_ufunc_reduce(Capture& capture, PyObject* callable, const CallArguments& arguments);
Result<Ref> numpy_ufunc_accumulate(Capture& capture, PyObject* callable, const CallArguments& arguments);
Result<Ref> numpy_ufunc_at(Capture& capture, PyObject* callable, const CallArguments& arguments);
Result<Ref> numpy_ufunc_outer(Capture& capture, PyObject* callable, const CallArguments& arguments);

}  // namespace accel
