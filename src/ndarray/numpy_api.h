#pragma once
// NumPy's headers, with one set of macros. Private to this folder: import.cpp holds the API table, the others refer to it.

#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL accel_numpy_array_api
#define PY_UFUNC_UNIQUE_SYMBOL accel_numpy_ufunc_api
#ifndef ACCEL_OWNS_NUMPY_API
#define NO_IMPORT_ARRAY
#define NO_IMPORT_UFUNC
#endif

#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <numpy/ufuncobject.h>

#include <array>
#include <optional>

#include "ir/dtype.h"

namespace accel {

constexpr int dtype_count = 0
#define DTYPE(...) +1
#include "ir/dtype.inc"
#undef DTYPE
    ;

// NumPy's type number of each DType, in the order of the table.
extern const std::array<int, dtype_count> type_numbers;
// The DType of a type number; nullopt when it is none of ours (longlong and the like included).
std::optional<DType> dtype_of_type_number(int number);

}  // namespace accel
