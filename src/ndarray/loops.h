#pragma once
// NumPy's typed inner loops and type rules.

#include <Python.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/kernel_abi.h"
#include "cpython/py_ref.h"
#include "ir/dtype.h"
#include "ir/op.h"
#include "schedule/program/program.h"

namespace accel {

// Finds NumPy's ufuncs. False with a Python exception set. Called by import_numpy.
bool import_ufuncs();

// NumPy's ufunc for an op (borrowed), null when the op is none; and the reverse, for NumPy's own ufunc objects only.
PyObject* ufunc_of(Op op);
std::optional<Op> op_of_ufunc(PyObject* object);

// Whether NumPy's loop of `op` for these dtypes (operands then results) may run in worker threads: no Python, no locks, no
// library with threads of its own.
bool loop_is_thread_safe(Op op, std::span<const DType> dtypes);

// A resolved loop, which owns what its context points to.
struct ResolvedLoop {
  AccelImport import{};
  PyRef keep_alive;
};

// The inner loop of the import's ufunc for exactly its dtypes, for aligned operands, contiguous or strided.
Result<ResolvedLoop> resolve_loop(const LoopImport& import);

// An operand of a ufunc as its type rule sees it.
struct OperandType {
  enum class Kind : uint8_t { array, numpy_scalar, py_bool, py_int, py_float, py_complex } kind = Kind::array;
  DType dtype = DType::float64;  // arrays and NumPy scalars
};

// dtypes (operands then results) of NumPy's loop for these operands: ufunc.resolve_dtypes. `dtype` and `signature` arguments
// of the call as Python objects or null. Fails with will_raise when NumPy raises, unsupported_dtype when a dtype is none of
// ours. Given outputs follow the operands. `reduction`: for ufunc.reduce; operands are the array and perhaps the output.
// `casting`: the rule's name, null for NumPy's default.
Result<std::vector<DType>> resolve_dtypes(PyObject* ufunc, std::span<const OperandType> operands, PyObject* dtype,
                                          bool reduction, const char* casting = nullptr);

}  // namespace accel
