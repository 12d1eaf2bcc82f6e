// sorted() and list.sort() of dynamic lists of numbers. NumPy's stable sort gives the order that Python's does.

#include "capture/protocol/arguments.h"
#include "capture/protocol/builtin_calls.h"
#include "capture/protocol/operations.h"
#include "capture/protocol/primitive.h"
#include "capture/python/containers/dynamic_lists.h"
#include "ndarray/array.h"

namespace accel {

namespace {

Ref backwards(Capture& capture) {
  Ref none = capture.values().constant(Py_None);
  return make_slice(capture, none, none, capture.values().python_int(-1));
}

// Exits if an item is NaN, because Python's order then depends on which items it compares.
Status require_order(Capture& capture, ValueId rows) {
  if (dtype_kind(capture.graph().type(rows).dtype) != 'f') return Unit{};
  Builder& build = capture.build();
  ValueId each = build.pointwise(Op::isnan, {rows}, {DType::bool_});
  ValueId any = build.reduce(Op::logical_or, each, {0}, DType::bool_, no_value, false, ValueKind::numpy_scalar);
  ValueId none = build.pointwise(Op::logical_not, {any}, {DType::bool_}, ValueKind::numpy_scalar);
  return capture.require(none, Reason::assumption_failed, "a NaN in a list that is sorted");
}

// Equal items keep their order, also in descending order: the rows are reversed before and after the sort.
Result<Ref> sorted_rows(Capture& capture, const Ref& list, bool reverse) {
  ACCEL_TRY(Ref rows, rows_of_numbers(capture, list));
  ACCEL_TRY([[maybe_unused]] Unit ordered, require_order(capture, capture.memory().read(rows)));
  if (reverse) {
    ACCEL_TRY(rows, get_item(capture, rows, backwards(capture)));
  }
  Ref array = capture.values().fresh_array(capture.build().copy(capture.memory().read(rows)));
  static PyObject* const sort = PyObject_GetAttrString(reinterpret_cast<PyObject*>(array_type()), "sort");
  PyRef stable = PyRef::steal(PyUnicode_FromString("stable"));
  CallArguments arguments{{array, capture.values().python_int(-1), capture.values().constant(stable.get())}, {}};
  ACCEL_TRY([[maybe_unused]] Ref none, find_primitive(sort)(capture, sort, arguments));
  return reverse ? get_item(capture, array, backwards(capture)) : Result<Ref>(array);
}

// The flag `reverse` of a call without a key; nullopt: another call.
Result<std::optional<bool>> direction(Capture& capture, const CallArguments& arguments) {
  bool reverse = false;
  for (const auto& [name, value] : arguments.keywords) {
    if (name == "key" && is_none(value)) continue;
    if (name != "reverse") return std::optional<bool>();
    ACCEL_TRY(reverse, read_flag(capture, value, false));
  }
  return arguments.positional.size() == 1 ? std::optional(reverse) : std::nullopt;
}

}  // namespace

Result<Ref> capture_sorted(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  if (arguments.positional.empty() || !is_dynamic_list(arguments.positional[0])) return fold_call(capture, callable, arguments);
  ACCEL_TRY(std::optional<bool> reverse, direction(capture, arguments));
  if (!reverse) return fail(Reason::unsupported_argument, "a key of sorted");
  const Ref& list = arguments.positional[0];
  ACCEL_TRY(Ref rows, sorted_rows(capture, list, *reverse));
  return list_of_rows(capture, rows, row_type(*list));
}

Result<Ref> capture_list_sort(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(std::optional<bool> reverse, direction(capture, arguments));
  if (!reverse || !is_any_list(*arguments.positional[0])) return fail(Reason::unsupported_call, "list.sort");
  const Ref& list = arguments.positional[0];
  ACCEL_TRY([[maybe_unused]] Unit fresh, require_fresh(capture, list));
  if (!is_dynamic_list(list) && list->items.size() < 2) return capture.values().constant(Py_None);
  if (!is_dynamic_list(list)) return fail(Reason::unsupported_call, "list.sort");
  ACCEL_TRY(Ref rows, sorted_rows(capture, list, *reverse));
  replace_rows(capture, list, rows);
  return capture.values().constant(Py_None);
}

}  // namespace accel
