#pragma once
// The observed results of calls of unknown code, and what capture may assume of them.

#include <Python.h>

#include <cstdint>

#include "capture/product/call_site.h"
#include "ir/graph.h"

namespace accel {

// Whether `object` is an array of this type with no other references, which owns its dense memory: its elements may be copied
// instead of keeping it.
bool is_array_of(PyObject* object, const Type& type);

// Whether `object` is a Python or NumPy number of this kind and dtype; its value is written to `bits`.
bool read_number(PyObject* object, const Type& type, uint64_t bits[2]);
bool is_number_of(PyObject* object, const Type& type);

// What the next version may assume of a result like this one.
SeenResult seen_result_of(PyObject* object);

}  // namespace accel
