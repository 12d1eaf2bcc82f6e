#pragma once
// NumPy's callables as primitives. The functions are listed in primitives.inc, which also declares them; ufuncs and their
// methods are found by type.

#include "capture/protocol/primitive.h"

namespace accel {

// The primitive of a ufunc object, or of a ufunc's method, bound (add.reduce) or not. Null for everything else.
Primitive ufunc_primitive(PyObject* callable);

// The primitive of a method of numpy.random.Generator or RandomState, null for other callables.
Primitive generator_primitive(PyObject* callable);

// A call of a ufunc's method: the ufunc (borrowed) and the arguments after it.
struct UfuncMethod {
  PyObject* ufunc;
  CallArguments arguments;
};
Result<UfuncMethod> split_ufunc_method(PyObject* callable, const CallArguments& arguments);

// Attributes of arrays that are objects of their own.
Result<Ref> array_flags(Capture& capture, const Ref& array);
Status set_array_flag(Capture& capture, const Ref& flags, PyObject* name, const Ref& value);
// flat[index] of array.flat (flat_iterator.h): a copy; and flat[index] = value.
Result<Ref> flat_getitem(Capture& capture, const Ref& flat, const Ref& index);
Status flat_setitem(Capture& capture, const Ref& flat, const Ref& index, const Ref& value);
// The items of a numpy.broadcast of integers; nullopt: `value` is none.
Result<std::optional<std::vector<Ref>>> items_of_object(Capture& capture, const Ref& value);

Result<Ref> numpy_ufunc_call(Capture& capture, PyObject* ufunc, const CallArguments& arguments);
Result<Ref> numpy_ufunc_reduce(Capture& capture, PyObject* callable, const CallArguments& arguments);
Result<Ref> numpy_ufunc_accumulate(Capture& capture, PyObject* callable, const CallArguments& arguments);
Result<Ref> numpy_ufunc_at(Capture& capture, PyObject* callable, const CallArguments& arguments);
Result<Ref> numpy_ufunc_outer(Capture& capture, PyObject* callable, const CallArguments& arguments);

}  // namespace accel
