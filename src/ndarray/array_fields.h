#pragma once
// The fields that an ndarray begins with. Objects of other types that begin with them are read by array_layout and array_facts.

#include <Python.h>

#include <cstdint>
#include <span>

#include "ir/dtype.h"

namespace accel {

struct ArrayFields {
  PyObject_HEAD char* data;
  int rank;
  intptr_t* dims;
  intptr_t* strides;
  PyObject* base;
  PyObject* descr;
  int flags;
  PyObject* weak_references;
};

// ArrayFields::flags as NumPy computes them: contiguous in C and Fortran order, aligned, writeable, owning.
int array_flags(DType dtype, std::span<const int64_t> dims, std::span<const int64_t> strides, const char* data, bool writeable,
                bool owns_data);

// An ndarray with the layout, address and writeability of `fields`, which may say where views of it lie. Its memory must not be
// read: the address may be one of a device. New reference, or null with an exception.
PyObject* new_unreadable_array(const ArrayFields& fields);

}  // namespace accel
