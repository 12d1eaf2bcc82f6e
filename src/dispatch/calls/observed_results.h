#pragma once
// What a call gave, and what capture can make of it where the code of the callee is unknown.

#include <Python.h>

#include <cstdint>

#include "capture/product/call_site.h"
#include "ir/graph.h"

namespace accel {

// Whether `object` is an array of this type without further references: its elements may be copied in place of it.
bool is_array_of(PyObject* object, const Type& type);

// Whether `object` is a number of Python's or NumPy's of this kind and dtype, which is then in `bits`.
bool read_number(PyObject* object, const Type& type, uint64_t bits[2]);
bool is_number_of(PyObject* object, const Type& type);

// What the next version may assume of such a result.
SeenResult seen_result_of(PyObject* object);

}  // namespace accel
