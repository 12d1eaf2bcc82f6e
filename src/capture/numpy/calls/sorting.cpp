// Sorts, searches and counts of NumPy, which compiled code asks the process to call. Devices have kernels for most of them
// (DeviceForm).

#include <string_view>

#include "capture/numpy/calls/callbacks.h"
#include "capture/numpy/calls/form_arguments.h"
#include "capture/protocol/arguments.h"
#include "capture/protocol/numpy_calls.h"
#include "capture/protocol/operands.h"
#include "capture/protocol/operations.h"
#include "ndarray/casts.h"

namespace accel {
namespace {

// Calls a method that changes its array and returns None.
Result<Ref> change_in_place(Capture& capture, PyObject* callable, const CallArguments& arguments, DeviceForm form) {
  ACCEL_TRY(Ref self, array_of_rank(arguments.positional[0], 1, "an array without axes"));
  ACCEL_TRY([[maybe_unused]] Unit storable, capture.memory().check_storable(self));
  ACCEL_TRY(BoxedArguments made, boxed_arguments(capture, callable, arguments));
  made.call.changed = 0;
  made.call.drops_answer = true;
  made.call.device_form = std::move(form);
  const Type type = capture.graph().type(made.operands[0]);
  BoxedResult result{ValueKind::array, type.dtype, {type.shape.begin(), type.shape.end()}, type.order};
  Ref changed = boxed_call(capture, std::move(made), {result})[0];
  capture.memory().store(self, capture.memory().read(changed));
  return capture.values().constant(Py_None);
}

Result<Ref> positions_along(Capture& capture, PyObject* callable, const CallArguments& arguments, const Ref& axis,
                            DeviceForm form) {
  ACCEL_TRY(Ref self, array_of_rank(arguments.positional[0], 1, "an array without axes"));
  std::vector<Dim> shape = layout_of(self).shape;
  if (axis && is_none(axis)) shape = {element_count(capture, shape)};
  return call_of_positions(capture, callable, arguments, shape, std::move(form));
}

// --- device forms ------------------------------------------------------------------------------------------------------

// Whether a kind of sort asks for a stable one; nothing for what is none of NumPy's.
std::optional<bool> is_stable_kind(PyObject* kind) {
  const std::optional<std::string_view> name = text_of(kind);
  if (name == "stable" || name == "mergesort") return true;
  if (name == "quicksort" || name == "heapsort") return false;
  return std::nullopt;
}

// Whether the sort is to be stable, from NumPy's arguments for it. Nothing where NumPy raises, and for other than constants.
std::optional<bool> is_stable_sort(const Ref& kind_given, const Ref& stable_given) {
  PyObject *kind = constant_of(kind_given, Py_None), *stable = constant_of(stable_given, Py_None);
  if (kind == nullptr || stable == nullptr || (kind != Py_None && stable != Py_None)) return std::nullopt;
  if (kind != Py_None) return is_stable_kind(kind);
  if (stable != Py_None && !PyBool_Check(stable)) return std::nullopt;
  return stable == Py_True;
}

// The axis that is sorted: the last one by default. Nothing for None, which NumPy takes for all axes, and for wrong ones.
std::optional<int> sorted_axis(const Ref& given, int rank) {
  PyObject* const axis = constant_of(given, nullptr);
  if (given && (axis == nullptr || !PyLong_CheckExact(axis))) return std::nullopt;
  int overflows = 0;
  const int64_t number = given ? PyLong_AsLongLongAndOverflow(axis, &overflows) : -1;
  if (overflows != 0 || number < -rank || number >= rank) return std::nullopt;
  return static_cast<int>(number < 0 ? number + rank : number);
}

// Nothing for what NumPy alone judges.
DeviceForm sort_form(const CallArguments& arguments, bool gives_positions) {
  auto given = bind_arguments(arguments, {{"self", "axis", "kind", "order", "stable"}, 1, 4, 1});
  if (!given.ok() || (*given)[0]->kind != AbstractKind::array || !is_none((*given)[3])) return {};
  const std::optional<int> axis = sorted_axis((*given)[1], static_cast<int>(layout_of((*given)[0]).shape.size()));
  const std::optional<bool> is_stable = is_stable_sort((*given)[2], (*given)[4]);
  if (!axis || !is_stable) return {};
  return SortForm{*axis, gives_positions, *is_stable};
}

// --- searchsorted ------------------------------------------------------------------------------------------------------

constexpr Parameter searched{0, "self"}, wanted_value{1, "v"};

DeviceForm search_form(const BoxedCall& call, const CallArguments& arguments, const std::vector<Ref>& given) {
  SearchForm form;
  form.wanted = operand_of(call, arguments, wanted_value);
  if (!form.wanted) form.constant = PyRef::borrow(constant_of(given[1], nullptr));
  const std::optional<std::string_view> side = given[2] ? text_of(constant_of(given[2], nullptr)) : "left";
  form.is_right = side == "right";
  if ((!form.wanted && !form.constant) || (side != "left" && side != "right")) return {};
  if (!is_none(given[3]) || operand_of(call, arguments, searched) != 0) return {};
  return form;
}

// Whether a Python int is beyond int64, which NumPy compares as uint64 or as an object.
bool is_long_int(const Ref& given) {
  PyObject* const number = constant_of(given, nullptr);
  if (number == nullptr || !PyLong_CheckExact(number)) return false;
  int overflows = 0;
  PyLong_AsLongLongAndOverflow(number, &overflows);
  return overflows != 0;
}

// The dtype that NumPy compares elements in. Python numbers count as int64, float64 and complex128. Nothing where NumPy alone
// knows it.
std::optional<DType> searched_dtype(const Operand& self, const Operand& wanted) {
  if (is_long_int(wanted.ref)) return std::nullopt;
  const OperandType types[] = {{OperandType::Kind::array, self.type.dtype}, {OperandType::Kind::array, wanted.type.dtype}};
  Result<DType> dtype = numpy_result_type(types);
  return dtype.ok() ? std::optional(*dtype) : std::nullopt;
}

// --- bincount ----------------------------------------------------------------------------------------------------------

constexpr Parameter binned{0, "x"}, bin_weights{1, "weights"}, bin_minimum{2, "minlength"};

DeviceForm count_form(const BoxedCall& call, const CallArguments& arguments, const std::vector<Ref>& given) {
  CountForm form;
  auto is_list_of = [&](std::optional<int> operand, DType dtype) {
    if (!operand) return false;
    const Type& type = call.operands[static_cast<size_t>(*operand)];
    return type.kind == ValueKind::array && type.dtype == dtype && type.rank() == 1;
  };
  if (operand_of(call, arguments, binned) != 0 || !is_list_of(0, DType::int64)) return {};
  form.weights = operand_of(call, arguments, bin_weights);
  if (!is_none(given[1]) && !is_list_of(form.weights, DType::float64)) return {};
  if (!given[2]) return form;
  form.least_operand = operand_of(call, arguments, bin_minimum);
  if (form.least_operand) {
    const Type& type = call.operands[static_cast<size_t>(*form.least_operand)];
    return type.kind != ValueKind::array && type.dtype == DType::int64 ? DeviceForm(form) : DeviceForm();
  }
  PyObject* const least = constant_of(given[2], nullptr);
  if (least == nullptr || !PyLong_CheckExact(least)) return {};
  form.least = PyLong_AsLongLong(least);
  const bool is_long = form.least == -1 && PyErr_Occurred() != nullptr;
  if (is_long) PyErr_Clear();
  return is_long ? DeviceForm() : DeviceForm(form);
}

}  // namespace

Result<Ref> numpy_array_sort(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  return change_in_place(capture, callable, arguments, sort_form(arguments, false));
}

Result<Ref> numpy_array_partition(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  return change_in_place(capture, callable, arguments, {});
}

Result<Ref> numpy_array_argsort(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"self", "axis", "kind", "order", "stable", "descending"}, 1, 4, 1}));
  return positions_along(capture, callable, arguments, given[1], sort_form(arguments, true));
}

Result<Ref> numpy_array_argpartition(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"self", "kth", "axis", "kind", "order"}, 2, 99, 1}));
  return positions_along(capture, callable, arguments, given[2], {});
}

Result<Ref> numpy_array_searchsorted(Capture& capture, PyObject* callable, const CallArguments& call_arguments) {
  CallArguments arguments = call_arguments;
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"self", "v", "side", "sorter"}, 2, 99, 1}));
  ACCEL_TRY(Ref self, array_of_rank(given[0], 1, "an array without axes"));
  ACCEL_TRY(Operand of_self, read_operand(capture, self));
  ACCEL_TRY(Operand wanted, read_operand(capture, given[1]));
  const std::optional<DType> dtype = is_none(given[3]) ? searched_dtype(of_self, wanted) : std::nullopt;
  for (const Parameter& parameter : {searched, wanted_value}) {
    if (!dtype) break;
    ACCEL_TRY([[maybe_unused]] Unit cast, cast_argument(capture, arguments, parameter, *dtype));
  }
  ACCEL_TRY(BoxedArguments made, boxed_arguments(capture, callable, arguments));
  if (dtype) made.call.device_form = search_form(made.call, arguments, given);
  return call_of_shape(capture, std::move(made), wanted.shape);
}

// bincount(x, /, weights=None, minlength=0). The length of the result depends on the largest element.
Result<Ref> numpy_bincount(Capture& capture, PyObject* callable, const CallArguments& call_arguments) {
  CallArguments arguments = call_arguments;
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"x", "weights", "minlength"}, 1, 99, 1}));
  for (const auto& [parameter, dtype] : {std::pair(binned, DType::int64), std::pair(bin_weights, DType::float64)}) {
    const Ref& argument = given[parameter.position];
    std::optional<Operand> operand = argument ? as_operand(capture, argument) : std::nullopt;
    if (!operand || !can_cast(operand->type.dtype, dtype, "safe")) continue;
    ACCEL_TRY([[maybe_unused]] Unit cast, cast_argument(capture, arguments, parameter, dtype));
  }
  ACCEL_TRY(BoxedArguments made, boxed_arguments(capture, callable, arguments));
  made.call.device_form = count_form(made.call, arguments, given);
  ACCEL_TRY(std::vector<BoxedResult> results, sampled_results(capture, made));
  if (results[0].shape.size() != 1)
    return fail(Reason::unsupported_argument,
                "bincount of these arguments; plain form: bincount of a one-dimensional array of integers");
  results[0].shape = {std::nullopt};
  ACCEL_TRY(Operand x, read_operand(capture, given[0]));
  if (!is_none(given[1])) {  // for an empty x NumPy ignores the weights
    bool empty = capture.facts().decide_equal(element_count(capture, x.shape), capture.dims().constant(0));
    results[0].dtype = empty ? DType::int64 : DType::float64;
  }
  std::optional<Dim> least = given[2] ? as_dim(capture, given[2]) : std::nullopt;
  if (least) results[0].hint = capture.ranges().hint(*least);
  Ref counts = boxed_call(capture, std::move(made), results)[0];
  if (least) capture.facts().all().push_back(capture.dims().sub(layout_of(counts).shape[0], *least));
  return counts;
}

}  // namespace accel
