#pragma once
// Methods of numpy.random.Generator: compiled code calls them as they are.

#include "capture/primitive.h"

namespace accel {

// Whether the object is exactly a numpy.random.Generator. Such objects are passed to each run; only their type is guarded.
bool is_generator(PyObject* object);

// The primitive of a method, null for other callables.
Primitive generator_primitive(PyObject* callable);

}  // namespace accel
