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
  Ref into;   // the operand in whose memory, which nobody else knows, NumPy computes; null: none
  Ref where;  // null: everywhere
};

// What ufunc(*operands) gives. Emits nothing when it fails.
Result<Ref> apply_ufunc(Capture& capture, PyObject* ufunc, const std::vector<Ref>& operands, const UfuncOptions& options = {});
Result<Ref> apply_ufunc(Capture& capture, Op op, const std::vector<Ref>& operands, const UfuncOptions& options = {});

// The same for matmul, vecdot, matvec and vecmat.
Result<Ref> apply_gufunc(Capture& capture, Op op, const std::vector<Ref>& operands, const UfuncOptions& options = {});

struct ReduceOptions {
  std::vector<int> axes;  // ascending
  PyRef dtype;
  Ref out;
  bool keepdims = false;
  Ref initial;  // null: not given; None: none
  Ref where;    // null: everything
};

// ufunc.reduce of an array.
Result<Ref> reduce_array(Capture& capture, PyObject* ufunc, const Ref& array, const ReduceOptions& options);

// Leaves the graph when an exponent of integers is negative, for which NumPy raises.
Status require_natural(Capture& capture, ValueId exponent);

// Whether a ufunc is one of numpy.linalg's.
bool is_of_linalg(PyObject* ufunc);
// A gufunc of numpy.linalg or numpy.fft: an op where the table has it, else a boxed call.
Result<Ref> call_gufunc(Capture& capture, PyObject* ufunc, const CallArguments& arguments);

// A value of rank 0 as NumPy returns it: a scalar, unless `as_array`.
Ref wrap_result(Capture& capture, ValueId value, bool as_array);

}  // namespace accel
