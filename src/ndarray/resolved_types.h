#pragma once
// Private to this folder.

#include <Python.h>

#include <vector>

#include "base/result.h"
#include "ir/dtype.h"

namespace accel {

// DTypes of the tuple that NumPy's type resolution gives. Mixed comparisons have loops over longlong, the twin of int64: as an
// operand (the first `operands` dtypes) it is read as int64, as a result it is unsupported.
Result<std::vector<DType>> read_resolved_types(PyObject* tuple, int operands);

}  // namespace accel
