#pragma once
// The classes of numpy.random whose objects draw numbers.

#include <Python.h>

namespace accel {

// numpy.random.Generator and RandomState (borrowed); null until their modules have been imported.
PyObject* generator_type();
PyObject* random_state_type();
// Whether the object is exactly a Generator or RandomState. Such objects are passed to each run; only their type is guarded.
bool is_generator(PyObject* object);

}  // namespace accel
