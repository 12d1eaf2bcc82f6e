#pragma once
// Capture: the state of one abstract interpretation. capture() in captured.h is the entry point.

#include <Python.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "capture/abstract_value.h"
#include "capture/captured.h"
#include "capture/primitive.h"
#include "cpython/bytecode.h"

namespace accel {

class Capture {
 public:
  Capture(Graph& graph, GuardSet& guards);

  Graph& graph() { return graph_; }
  Builder& build() { return builder_; }
  DimTable& dims() { return graph_.dims; }

  // --- values -------------------------------------------------------------------------------------------------------
  Ref constant(PyObject* object);                       // borrowed
  Ref python_int(int64_t value);
  Ref dim_scalar(Dim d, ValueKind kind = ValueKind::py_scalar);  // constant when d is one
  Ref scalar(ValueId value);                            // kind and dtype from the value's type
  Ref tuple(std::vector<Ref> items);
  Ref fresh_array(ValueId value);                       // whole new storage
  Ref view_of(const Ref& array, ViewStep step, Lens lens, ValueId value);
  // Current contents of an array, re-derived when its storage was stored to.
  ValueId read(const Ref& array);
  // Stores `value` into the whole of a fresh array. Fails with store_to_argument when Python can reach the memory.
  Status store(const Ref& array, ValueId value);
  // Rank-0 graph value of a scalar or of a constant Python/NumPy number.
  Result<ValueId> scalar_value(const Ref& scalar);

  // --- what is known at capture -----------------------------------------------------------------------------------
  int64_t hint(Dim d) const;                            // value at this call
  // Value of an integer that a rule needs now: constants as they are; Dims are fixed by a guard.
  Result<int64_t> require_int(const Ref& value);
  // The Python object of a value that a rule needs now: constants; numbers are promoted with a guard; tuples and slices of those. New reference.
  Result<PyRef> require_constant(const Ref& value);
  bool is_constant(const Ref& value) const;
  // Decides `left comparison right` by this call's values and guards on it. Constant relations need no guard.
  bool decide(Dim left, Comparison comparison, Dim right);
  bool decide_equal(Dim left, Dim right) { return decide(left, Comparison::eq, right); }

  // --- calls ---------------------------------------------------------------------------------------------------------
  // Traces a call of a Python function (a constant) as if the current instruction had made it. Used by primitives that forward to
  // functions NumPy implements in Python. The result replaces the primitive's own.
  Result<Ref> call_python(PyObject* function, const CallArguments& arguments);

  void note(Reason reason, std::string detail);

  // (the interpreter's own state and steps follow; see capture/interpreter.h)
 private:
  friend class Interpreter;
  Graph& graph_;
  GuardSet& guards_;
  Builder builder_;
};

}  // namespace accel
