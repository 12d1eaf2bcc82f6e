#pragma once
// Capture: the state of one abstract interpretation. capture() in captured.h is the entry point.

#include <Python.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/abstract_value.h"
#include "capture/captured.h"
#include "capture/primitive.h"
#include "capture/sources.h"

namespace accel {

class Interpreter;

// What earlier attempts at the same capture found out. Capture is deterministic, so an attempt that learns something which it
// should have known before is dropped and repeated.
struct Plan {
  std::map<int, std::string> substitutions;  // symbol: text of the Dim over lower symbols that it equals (a guard says so)
  std::set<std::string> promoted;            // texts of the sources whose numbers must be constants
  int symbols = 0;                           // of the attempt that the substitutions speak of
};

// Thrown by Capture when the plan got an addition, caught by capture(). Never crosses a CPython frame.
struct Restart {};

class Capture {
 public:
  Capture(Graph& graph, GuardSet& guards);
  Capture(Graph& graph, GuardSet& guards, Plan* plan);

  Graph& graph() { return graph_; }
  Builder& build() { return builder_; }
  DimTable& dims() { return graph_.dims; }
  Sources& sources() { return sources_; }

  // --- values -------------------------------------------------------------------------------------------------------
  Ref constant(PyObject* object);  // borrowed; an exact tuple or slice gives that kind
  Ref python_int(int64_t value);
  Ref dim_scalar(Dim d, ValueKind kind = ValueKind::py_scalar);  // constant when d is one
  Ref scalar(ValueId value);                                     // kind and dtype from the value's type
  Ref tuple(std::vector<Ref> items);
  Ref list(std::vector<Ref> items);
  Ref method(Ref callable, Ref self);
  Ref fresh_array(ValueId value);  // whole new storage
  Ref view_of(const Ref& array, ViewStep step, Lens lens, ValueId value);
  // Current contents of an array, re-derived when its storage was stored to.
  ValueId read(const Ref& array);
  // Stores `value` into the whole of a fresh array. Fails with store_to_argument when Python can reach the memory.
  Status store(const Ref& array, ValueId value);
  // Rank-0 graph value of a scalar or of a constant Python/NumPy number.
  Result<ValueId> scalar_value(const Ref& scalar);

  // --- what comes from outside ---------------------------------------------------------------------------------------
  // The value at a source that holds `seen` (borrowed); unread until look(). One source has one Ref.
  Ref at(SourceId source, PyObject* seen);
  // Finds out the kind of an unread value and guards on it. Arguments of primitives have been looked at, items of containers
  // too.
  void look(const Ref& value);
  void look_deep(const Ref& value);
  // Type of the Python object (borrowed); null for NULL.
  PyTypeObject* type_of(const Ref& value);
  // Why an object has no abstract form beyond its type (array_subclass, unsupported_dtype, ...).
  Failure refusal(const Ref& object);

  // --- what is known at capture -----------------------------------------------------------------------------------
  int64_t hint(Dim d) const;  // value at this call
  // Value of an integer that a rule needs now: constants as they are; Dims are fixed by a guard.
  Result<int64_t> require_int(const Ref& value);
  // The Python object of a value that a rule needs now: constants; numbers are promoted with a guard; tuples, lists and slices
  // of those. New reference.
  Result<PyRef> require_constant(const Ref& value);
  bool is_constant(const Ref& value) const;
  // Decides `left comparison right` by this call's values and guards on it. Constant relations need no guard.
  bool decide(Dim left, Comparison comparison, Dim right);
  bool decide_equal(Dim left, Dim right) { return decide(left, Comparison::eq, right); }
  // Whether `d` fits int64 for all entry symbols, after guards on their size where these help.
  bool fits(Dim d);
  // A scalar computed from nothing but numbers of the call: they become constants and capture starts again. Else returns.
  void promote_inputs_of(const Ref& scalar);

  // --- calls ---------------------------------------------------------------------------------------------------------
  // Traces a call of a Python function (a constant) as if the current instruction had made it. Used by primitives that forward
  // to functions NumPy implements in Python. The result replaces the primitive's own.
  Result<Ref> call_python(PyObject* function, const CallArguments& arguments);
  // The same for any callable value: primitives, Python functions, dispatchers.
  Result<Ref> call(const Ref& callable, const CallArguments& arguments);

  void note(Reason reason, std::string detail);
  std::vector<Note>& notes() { return notes_; }
  void attach(Interpreter* interpreter) { interpreter_ = interpreter; }
  // Names the node of the graph after the instruction that runs.
  void set_location(const std::string& file, int line);
  Location location() const { return where_; }

 private:
  struct Range {
    double low = 0, high = 0;
  };

  void look_array(const Ref& value);
  void look_number(const Ref& value, PyTypeObject* type, DType dtype);
  void look_container(const Ref& value);
  void look_dict(const Ref& value);
  bool look_constant(const Ref& value);
  int add_symbol(const std::string& name, int64_t hint, Range range);
  Dim symbol_dim(int symbol);
  void guard_relation(Dim left, Comparison comparison, Dim right);
  void substitute_if_possible(Dim left, Dim right);
  bool substitute(Dim symbol, Dim by);
  Range range_of(Dim d) const;
  bool limit_symbols(Dim d, double limit);
  uint8_t signs_of(Dim difference) const;
  ValueId input_of(Storage& storage);
  Status promote(const Ref& value);
  Result<PyRef> require_items(const Ref& value);
  PyRef constant_number(ValueKind kind, int64_t value);

  Graph& graph_;
  GuardSet& guards_;
  Builder builder_;
  Sources sources_;
  Plan own_plan_;
  Plan& plan_;
  Interpreter* interpreter_ = nullptr;
  std::unordered_map<SourceId, Ref> at_;
  std::unordered_map<SourceId, size_t> array_guards_;  // index into guards
  std::unordered_map<ValueId, SourceId> scalar_inputs_;
  std::unordered_map<int, SourceId> symbol_sources_;  // numbers
  std::vector<Range> symbol_ranges_;
  std::unordered_map<int32_t, uint8_t> signs_;  // what guards say about the sign of a Dim
  std::vector<Note> notes_;
  std::string file_;
  Location where_;
};

// numpy.ndarray, and the Python type that a py_scalar of this dtype has (borrowed).
PyTypeObject* array_type();
PyTypeObject* python_type_of(DType dtype);

}  // namespace accel
