#pragma once
// NumPy's dtype objects and casting rules.

#include <Python.h>

#include <span>

#include "ir/dtype.h"
#include "ndarray/loops.h"

namespace accel {

bool is_dtype_object(PyObject* object);
bool is_numpy_scalar_type(PyTypeObject* type);  // a subclass of numpy.generic
// np.dtype(spec). New reference or null with an exception.
PyObject* new_descr(PyObject* spec);

// np.can_cast; false for an unknown rule.
bool numpy_can_cast(DType from, DType to, const char* casting);

// np.result_type of these operands (Python scalars are weak, as in NumPy). Fails with will_raise or unsupported_dtype.
Result<DType> numpy_result_type(std::span<const OperandType> operands);

}  // namespace accel
