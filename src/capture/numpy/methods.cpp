// Methods of ndarray and of NumPy scalars.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "capture/numpy/arrays/creation.h"
#include "capture/numpy/arrays/views.h"
#include "capture/protocol/arguments.h"
#include "capture/protocol/numpy_calls.h"
#include "capture/protocol/operations.h"
#include "capture/protocol/ufunc_calls.h"
#include "capture/python/numbers/scalar_expressions.h"
#include "cpython/imported.h"
#include "ndarray/array.h"

namespace accel {

namespace {

// self of a method, which has to be an array.
Result<Ref> array_self(const Ref& ref) {
  if (ref->kind != AbstractKind::array) return fail(Reason::unsupported_value, "this method of a NumPy scalar");
  return ref;
}

// self of a method that NumPy scalars implement through a 0-d array, as an array.
Result<Ref> array_of_self(Capture& capture, const Ref& ref) {
  auto operand = as_operand(capture, ref);
  if (!operand || operand->type.kind != OperandType::Kind::numpy_scalar) return array_self(ref);
  ACCEL_TRY(ValueId value, operand_value(capture, *operand, operand->type.dtype));
  return copied(capture, value, {});
}

// The positional arguments after self, passed one by one or as one sequence.
std::vector<Ref> spread(const CallArguments& arguments) {
  const auto& given = arguments.positional;
  if (given.size() == 2 && (given[1]->kind == AbstractKind::tuple || given[1]->kind == AbstractKind::list))
    return given[1]->items;
  return {given.begin() + 1, given.end()};
}

int rank_of(const Ref& array) { return static_cast<int>(layout_of(array).shape.size()); }

// numpy._core._methods.<name>
PyObject* python_method(const char* name) {
  return imported_attribute("numpy._core._methods", name).get();  // the module keeps it alive
}

Result<Ref> forward(Capture& capture, const char* name, const CallArguments& arguments) {
  PyObject* function = python_method(name);
  if (function == nullptr) return fail(Reason::unsupported_call, std::string("numpy._core._methods.") + name);
  return capture.call_python(function, arguments);
}

}  // namespace

// Methods that NumPy's C code forwards to Python functions.
#define FORWARD(function, name)                                                       \
  Result<Ref> function(Capture& capture, PyObject*, const CallArguments& arguments) { \
    return forward(capture, name, arguments);                                         \
  }
FORWARD(numpy_array_sum, "_sum")
FORWARD(numpy_array_prod, "_prod")
FORWARD(numpy_array_mean, "_mean")
FORWARD(numpy_array_var, "_var")
FORWARD(numpy_array_std, "_std")
FORWARD(numpy_array_max, "_amax")
FORWARD(numpy_array_min, "_amin")
FORWARD(numpy_array_any, "_any")
FORWARD(numpy_array_all, "_all")
FORWARD(numpy_array_clip, "_clip")
#undef FORWARD

namespace {

Ref axes_reversed(Capture& capture, const Ref& array) {
  std::vector<int> axes(layout_of(array).shape.size());
  for (size_t k = 0; k < axes.size(); ++k) axes[k] = static_cast<int>(axes.size() - 1 - k);
  return axes.size() < 2 ? array : transposed_view(capture, array, axes);
}

// Whether `order` requests that the first axis is the fastest.
Result<bool> is_backwards(Capture& capture, const Ref& array, const std::string& order) {
  if (order == "A") return !is_c_contiguous(capture, array) && is_f_contiguous(capture, array);
  if (order.empty() || order == "C" || order == "F" || order == "K") return order == "F";
  return fail(Reason::unsupported_argument, "order='" + order + "'");
}

// A view with transposed axes whose elements in C order are those of `array` in `order`.
Result<Ref> walked_in(Capture& capture, const Ref& array, const std::string& order) {
  ACCEL_TRY(bool backwards, is_backwards(capture, array, order));
  if (backwards) return axes_reversed(capture, array);
  if (order != "K" || layout_of(array).shape.size() < 2 || is_c_contiguous(capture, array)) return array;
  std::vector<int> axes;
  ACCEL_TRY(Operand operand, read_operand(capture, array));
  for (uint8_t axis : result_order(capture, {operand}, layout_of(array).shape)) axes.push_back(axis);
  return axes.empty() ? array : transposed_view(capture, array, axes);
}

}  // namespace

Result<Ref> numpy_array_reshape(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(Ref self, array_of_self(capture, arguments.positional[0]));
  ACCEL_TRY(auto given, bind_arguments({{}, arguments.keywords}, {{"order", "copy"}}));
  ACCEL_TRY(std::string order, read_text(capture, given[0]));
  if (order == "K") return fail(Reason::will_raise, "order 'K' is not permitted for reshaping");
  if (!is_none(given[1]))
    return fail(Reason::unsupported_argument, "copy of reshape; plain form: array.reshape(shape).copy() for copy=True");
  std::vector<Dim> shape;
  for (const Ref& item : spread(arguments)) {
    ACCEL_TRY(Dim extent, read_extent(capture, item));
    shape.push_back(extent);
  }
  ACCEL_TRY(shape, reshape_target(capture, self, std::move(shape)));
  if (shape.empty() && arguments.positional[0]->kind != AbstractKind::array)
    return another_number(capture, arguments.positional[0]);
  ACCEL_TRY(bool backwards, is_backwards(capture, self, order));
  if (!backwards) return reshaped(capture, self, shape);
  std::reverse(shape.begin(), shape.end());
  return axes_reversed(capture, reshaped(capture, axes_reversed(capture, self), shape));
}

Result<Ref> numpy_array_ravel(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"self", "order"}, 1, 99, 1}));
  ACCEL_TRY(Ref self, array_of_self(capture, given[0]));
  ACCEL_TRY(std::string order, read_text(capture, given[1]));
  ACCEL_TRY(Ref walked, walked_in(capture, self, order));
  std::vector<Dim> flat = {element_count(capture, layout_of(walked).shape)};
  if (may_be_view(capture, walked)) return view_or_copy(capture, walked, flat, true);
  if (is_c_contiguous(capture, walked)) return reshaped(capture, walked, flat);
  return copied(capture, with_shape(capture, capture.memory().read(walked), flat), {});
}

Result<Ref> numpy_array_flatten(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"self", "order"}, 1, 99, 1}));
  ACCEL_TRY(Ref self, array_of_self(capture, given[0]));
  ACCEL_TRY(std::string order, read_text(capture, given[1]));
  ACCEL_TRY(Ref walked, walked_in(capture, self, order));
  return copied(capture, with_shape(capture, capture.memory().read(walked), {element_count(capture, layout_of(walked).shape)}),
                {});
}

namespace {

// Whether a dtype argument is (part dtype, (2,)) or (part dtype, 2), which views complex numbers as pairs of their parts.
Result<bool> is_pair_of_parts(Capture& capture, const Ref& spec, DType dtype) {
  if (spec->kind != AbstractKind::tuple || spec->items.size() != 2 || dtype_kind(dtype) != 'c') return false;
  ACCEL_TRY(auto part, read_dtype(capture, spec->items[0]));
  const Ref& shape = spec->items[1];
  bool nested = shape->kind == AbstractKind::tuple;
  if (nested && shape->items.size() != 1) return false;
  ACCEL_TRY(Dim count, read_dim(capture, nested ? shape->items[0] : shape));
  return part == part_dtype(dtype) && capture.dims().is_constant(count, 2);
}

// A view with real and imaginary parts adjacent along the last axis, which must have no gaps.
Result<Ref> view_as_parts(Capture& capture, const Ref& self) {
  const StridedLayout& layout = layout_of(self);
  if (!capture.facts().decide_equal(layout.strides.back(), capture.dims().constant(item_size(layout.dtype))))
    return fail(Reason::unsupported_layout, "a view as another dtype along an axis with gaps");
  std::vector<Dim> shape = layout.shape;
  shape.back() = capture.dims().mul(shape.back(), 2);
  return reshaped(capture, parts_view(capture, self), shape);
}

}  // namespace

// ndarray.view(dtype=None, type=ndarray)
Result<Ref> numpy_array_view(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"self", "dtype", "type"}, 1, 99, 1}));
  ACCEL_TRY(Ref self, array_self(given[0]));
  if (given[2]) return fail(Reason::unsupported_argument, "a view of another type; plain form: view of a dtype");
  if (!given[1]) return plain_view(capture, self);
  DType dtype = layout_of(self).dtype;
  bool has_axes = rank_of(self) > 0;
  ACCEL_TRY(bool pairs, is_pair_of_parts(capture, given[1], dtype));
  if (pairs && has_axes) return parts_view(capture, self);
  ACCEL_TRY(auto to, read_dtype(capture, given[1]));
  if (to == dtype) return plain_view(capture, self);
  if (dtype_kind(dtype) == 'c' && to == part_dtype(dtype) && has_axes) return view_as_parts(capture, self);
  return fail(Reason::unsupported_argument, "a view as such a dtype");
}

Result<Ref> numpy_array_transpose(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(Ref self, array_self(arguments.positional[0]));
  if (!arguments.keywords.empty()) return fail(Reason::will_raise, "transpose takes no keyword arguments");
  int rank = rank_of(self);
  std::vector<int> axes(static_cast<size_t>(rank));
  std::iota(axes.rbegin(), axes.rend(), 0);
  std::vector<Ref> items = spread(arguments);
  if (items.size() == 1 && items[0]->kind == AbstractKind::array) {
    PyRef known = capture.constants().known_value(capture.memory().read(items[0]));
    if (!known) return fail(Reason::unsupported_argument, "axes known at run time only");
    ACCEL_TRY(Ref list, folded(capture, PyObject_CallMethod(known.get(), "tolist", nullptr)));
    ACCEL_TRY(items, all_items(capture, list));
  }
  if (!items.empty() && !(items.size() == 1 && is_none(items[0]))) {
    if (static_cast<int>(items.size()) != rank) return fail(Reason::will_raise, "axes don't match array");
    for (int k = 0; k < rank; ++k) {
      ACCEL_TRY(axes[static_cast<size_t>(k)], read_axis(capture, items[static_cast<size_t>(k)], rank));
    }
    std::vector<int> sorted = axes;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
      return fail(Reason::will_raise, "repeated axis in transpose");
  }
  return transposed_view(capture, self, axes);
}

Result<Ref> numpy_array_swapaxes(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"self", "axis1", "axis2"}, 3, 99, 3}));
  ACCEL_TRY(Ref self, array_self(given[0]));
  ACCEL_TRY(int first, read_axis(capture, given[1], rank_of(self)));
  ACCEL_TRY(int second, read_axis(capture, given[2], rank_of(self)));
  std::vector<int> axes(static_cast<size_t>(rank_of(self)));
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[static_cast<size_t>(first)], axes[static_cast<size_t>(second)]);
  return transposed_view(capture, self, axes);
}

Result<Ref> numpy_array_squeeze(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"self", "axis"}, 1, 99, 1}));
  ACCEL_TRY(Ref self, array_self(given[0]));
  ACCEL_TRY(auto axes, read_axes(capture, given[1], rank_of(self)));
  std::vector<int> dropped;
  for (int axis = 0; axis < rank_of(self); ++axis) {
    bool wanted = !axes || std::binary_search(axes->begin(), axes->end(), axis);
    if (!wanted) continue;
    if (is_one(capture, layout_of(self).shape[static_cast<size_t>(axis)])) {
      dropped.push_back(axis);
    } else if (axes) {
      return fail(Reason::will_raise, "cannot select an axis to squeeze out which has size not equal to one");
    }
  }
  if (dropped.empty() && !axes) return self;
  return squeezed_view(capture, self, dropped);
}

namespace {

// Whether the elements may be cast to `to`. A complex to real cast warns, which compiled code does not do.
Status check_cast(DType from, DType to, const std::string& casting) {
  if (!can_cast(from, to, casting)) return fail(Reason::will_raise, "the cast is not allowed by casting=" + casting);
  if (dtype_kind(from) == 'c' && dtype_kind(to) != 'c' && dtype_kind(to) != 'b') {
    return fail(Reason::floating_point_event, "a cast that discards the imaginary part warns");
  }
  return Unit{};
}

}  // namespace

Result<Ref> numpy_array_astype(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"self", "dtype", "order", "casting", "subok", "copy"}, 2, 99, 1}));
  ACCEL_TRY(Operand self, read_operand(capture, given[0]));
  ACCEL_TRY(auto dtype, read_dtype(capture, given[1]));
  if (!dtype) dtype = DType::float64;
  ACCEL_TRY(std::string order, read_text(capture, given[2]));
  ACCEL_TRY(std::string casting, read_text(capture, given[3]));
  ACCEL_TRY(bool copy, read_flag(capture, given[5], true));
  if (casting.empty()) casting = "unsafe";
  ACCEL_TRY([[maybe_unused]] Unit allowed, check_cast(self.type.dtype, *dtype, casting));
  EventCall events(capture, "cast");
  if (!self.is_array()) {
    ACCEL_TRY(ValueId value, operand_value(capture, self, *dtype));
    return wrap_result(capture, capture.build().pointwise(Op::astype, {value}, {*dtype}), false);
  }
  if (order.empty()) order = "K";
  if (!copy && *dtype == self.type.dtype && is_in_order(capture, self.ref, order)) return self.ref;
  ACCEL_TRY(std::vector<uint8_t> memory, copy_order(capture, self.ref, order));
  return copied(capture, capture.values().astype(capture.memory().read(self.ref), *dtype), std::move(memory));
}

Result<Ref> numpy_array_copy(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"self", "order"}, 1, 99, 1}));
  ACCEL_TRY(Operand self, read_operand(capture, given[0]));
  ACCEL_TRY(std::string order, read_text(capture, given[1]));
  if (!self.is_array()) return another_number(capture, self.ref);
  ACCEL_TRY(std::vector<uint8_t> memory, copy_order(capture, self.ref, order.empty() ? "C" : order));
  return copied(capture, capture.memory().read(self.ref), std::move(memory));
}

// Copies of an immutable number by functions other than its method copy are the number itself.
Result<Ref> numpy_number_copy(Capture&, PyObject*, const CallArguments& arguments) { return arguments.positional[0]; }

Result<Ref> numpy_array_conjugate(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"self", "out"}, 1, 99, 1}));
  if (!is_none(given[1])) return fail(Reason::unsupported_argument, "out; plain form: out[...] = the call without out");
  ACCEL_TRY(Operand self, read_operand(capture, given[0]));
  if (dtype_kind(self.type.dtype) != 'c') return self.is_array() ? self.ref : another_number(capture, self.ref);
  return apply_ufunc(capture, Op::conjugate, {self.ref});
}

// The element of a 0-d array as a NumPy scalar.
static Ref scalar_of(Capture& capture, const Operand& array) {
  return wrap_result(capture, capture.build().pointwise(Op::astype, {capture.memory().read(array.ref)}, {array.type.dtype}),
                     false);
}

// ndarray.round, as NumPy's PyArray_Round computes it.
Result<Ref> numpy_array_round(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"self", "decimals", "out"}, 1, 99, 1}));
  if (!is_none(given[2])) return fail(Reason::unsupported_argument, "out; plain form: out[...] = the call without out");
  ACCEL_TRY(Operand self, read_operand(capture, given[0]));
  int64_t decimals = 0;
  if (given[1]) {
    ACCEL_TRY(decimals, capture.constants().require_int(given[1]));
  }
  char kind = dtype_kind(self.type.dtype);
  if (kind == 'c' || kind == 'b')
    return fail(Reason::unsupported_dtype, std::string("round of ") + dtype_name(self.type.dtype));
  if (kind != 'f') {
    if (decimals < 0)
      return fail(Reason::unsupported_argument,
                  "integers rounded to tens; plain form: array.astype(float).round(decimals).astype(array.dtype)");
    if (!self.is_array()) return another_number(capture, self.ref);
    if (self.shape.empty()) return scalar_of(capture, self);
    return copied(capture, capture.memory().read(self.ref), copy_order(capture, self.ref));
  }
  if (decimals == 0) return apply_ufunc(capture, Op::rint, {self.ref});
  if (std::llabs(decimals) > 22) return fail(Reason::unsupported_argument, "round with so many decimals");
  double scale = 1;
  for (int64_t k = 0; k < std::llabs(decimals); ++k) scale *= 10;  // exact up to 10**22
  PyRef number = PyRef::steal(PyFloat_FromDouble(scale));
  Ref factor = capture.values().constant(number.get());
  UfuncOptions options;
  // NumPy allocates the result itself: Fortran order for Fortran arrays, else C.
  bool fortran = self.shape.size() > 1 && !is_c_contiguous(capture, self.ref) && is_f_contiguous(capture, self.ref);
  options.order = fortran ? 'F' : 'C';
  Op first = decimals > 0 ? Op::multiply : Op::divide, last = decimals > 0 ? Op::divide : Op::multiply;
  ACCEL_TRY(Ref scaled, apply_ufunc(capture, first, {self.ref, factor}, options));
  ACCEL_TRY(Ref rounded, apply_ufunc(capture, Op::rint, {scaled}, options));
  return apply_ufunc(capture, last, {rounded, factor}, options);
}

namespace {

// item(i, j, ...) or item((i, j, ...)) with an integer for each axis: the element at that index.
Result<Ref> item_at(Capture& capture, const Operand& self, const CallArguments& arguments) {
  std::vector<Ref> index(arguments.positional.begin() + 1, arguments.positional.end());
  if (index.size() == 1 && index[0]->kind == AbstractKind::tuple) index = index[0]->items;
  bool fits = self.is_array() && index.size() == self.shape.size() && arguments.keywords.empty();
  for (const Ref& each : index) {
    std::optional<Operand> number = as_operand(capture, each);
    fits = fits && number && number->type.kind == OperandType::Kind::py_int;
  }
  if (!fits || index.empty())
    return fail(Reason::unsupported_argument, "item of an array; plain form: array[i, j].item() with an index for each axis");
  return array_getitem(capture, self.ref, capture.values().tuple(std::move(index)));
}

}  // namespace

// ndarray.item(...) and item() of NumPy scalars: a Python number.
Result<Ref> numpy_array_item(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(Operand self, read_operand(capture, arguments.positional[0]));
  if (arguments.positional.size() > 1) {
    ACCEL_TRY(Ref element, item_at(capture, self, arguments));
    ACCEL_TRY(self, read_operand(capture, element));
  }
  if (!self.shape.empty())
    return fail(Reason::unsupported_argument, "item of an array; plain form: array[i, j].item() with an index for each axis");
  if (!self.is_array() && self.ref->scalar.dim) return capture.values().dim_scalar(*self.ref->scalar.dim);
  DType dtype = self.type.dtype, python = DType::bool_;
  if (dtype_kind(dtype) == 'f') python = DType::float64;
  if (dtype_kind(dtype) == 'c') python = DType::complex128;
  if (dtype_kind(dtype) == 'i' || dtype_kind(dtype) == 'u') python = DType::int64;
  if (dtype == DType::uint64 && !self.is_array()) return python_integer(capture, self.ref);
  if (dtype == DType::uint64) return fail(Reason::unsupported_dtype, "a uint64 as a Python int");
  ACCEL_TRY(ValueId value, operand_value(capture, self, dtype));
  return capture.values().scalar(capture.build().pointwise(Op::astype, {value}, {python}, ValueKind::py_scalar));
}

}  // namespace accel
