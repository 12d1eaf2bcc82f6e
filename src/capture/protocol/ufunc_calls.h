#pragma once
// Calls of ufuncs on abstract values.

#include <Python.h>

#include <string>
#include <vector>

#include "capture/protocol/operands.h"

namespace accel {

struct UfuncOptions {
  std::vector<Ref> outs;     // arrays to store into, one per result; null Refs and an empty vector: none
  bool keep_arrays = false;  // out=...: results of rank 0 are arrays
  PyRef dtype;               // dtype=
  std::string casting;       // empty: NumPy's default
  char order = 'K';
  Ref into;   // the operand, referred to by nothing else, in whose memory NumPy computes the result; null: none
  Ref where;  // null: everywhere
};

// ufunc(*operands). Emits nothing when it fails.
Result<Ref> apply_ufunc(Capture& capture, PyObject* ufunc, const std::vector<Ref>& operands, const UfuncOptions& options = {});
Result<Ref> apply_ufunc(Capture& capture, Op op, const std::vector<Ref>& operands, const UfuncOptions& options = {});

// matmul, vecdot, matvec or vecmat of the operands.
Result<Ref> apply_gufunc(Capture& capture, Op op, const std::vector<Ref>& operands, const UfuncOptions& options = {});

struct ReduceOptions {
  std::vector<int> axes;  // ascending
  PyRef dtype;
  Ref out;
  bool keepdims = false;
  Ref initial;  // null: not given; None: none
  Ref where;    // null: everything
};

// ufunc.reduce(array).
Result<Ref> reduce_array(Capture& capture, PyObject* ufunc, const Ref& array, const ReduceOptions& options);

// Exits the graph where an integer exponent is negative, because NumPy raises.
Status require_natural(Capture& capture, ValueId exponent);

// Whether a ufunc belongs to numpy.linalg.
bool is_of_linalg(PyObject* ufunc);
// Calls a gufunc of numpy.linalg or numpy.fft: an op if the table has one, else a boxed call.
Result<Ref> call_gufunc(Capture& capture, PyObject* ufunc, const CallArguments& arguments);

// A value of rank 0 as NumPy returns it: a scalar, or an array if `as_array`.
Ref wrap_result(Capture& capture, ValueId value, bool as_array);

}  // namespace accel
