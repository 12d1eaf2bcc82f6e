#pragma once
// What a call of unknown code gave, as far as capture can make use of it.

#include <Python.h>

#include "capture/product/call_site.h"
#include "ir/graph.h"

namespace accel {

// Whether `object` is an array of this type that nobody else has: what it holds may be copied.
bool is_array_of(PyObject* object, const Type& type);

// Whether it is a number of Python's or NumPy's of this kind and dtype.
bool is_number_of(PyObject* object, const Type& type);

// What the next version may assume of such a result.
SeenResult seen_result_of(PyObject* object);

}  // namespace accel
