#include "capture/numpy/arrays/creation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/memory.h"
#include "capture/context/descent.h"
#include "capture/numpy/arrays/views.h"
#include "capture/protocol/arguments.h"
#include "capture/protocol/iterators.h"
#include "capture/protocol/ufunc_calls.h"
#include "capture/python/containers/dynamic_lists.h"
#include "ndarray/array.h"
#include "ndarray/casts.h"

namespace accel {

namespace {

using Kind = OperandType::Kind;

constexpr size_t most_written = 256;  // number of elements of an array written as a Python sequence

// The dtype of a number that is not combined with arrays.
DType own_dtype(const Operand& operand) { return operand.type.dtype; }

Failure cast_failure(DType dtype) {
  return fail(Reason::floating_point_event, std::string("NumPy's cast to ") + dtype_name(dtype) + " warns or raises");
}

// The order argument of a function whose default is C order.
Result<std::vector<uint8_t>> read_order(Capture& capture, const Ref& ref, size_t rank) {
  ACCEL_TRY(std::string order, read_text(capture, ref));
  std::vector<uint8_t> out;
  if (order.empty() || order == "C") return out;
  if (order != "F") return fail(Reason::unsupported_argument, "order='" + order + "'");
  for (size_t k = rank; k-- > 0;) out.push_back(static_cast<uint8_t>(k));
  return rank < 2 ? std::vector<uint8_t>{} : out;
}

// Half of the physical memory: allocations up to this many bytes are assumed to succeed.
double surely_free() { return 0.5 * static_cast<double>(physical_memory()); }

ValueId zero_of(Capture& capture, DType dtype) {
  Literal literal;
  literal.dtype = dtype;
  return capture.build().constant(literal, ValueKind::numpy_scalar);
}

Result<Ref> zeros(Capture& capture, const Ref& shape_given, const Ref& dtype_given, const Ref& order_given, bool unread) {
  ACCEL_TRY(std::vector<Dim> shape, read_shape(capture, shape_given));
  ACCEL_TRY(auto dtype, read_dtype(capture, dtype_given));
  ACCEL_TRY(std::vector<uint8_t> order, read_order(capture, order_given, shape.size()));
  DType wanted = dtype.value_or(DType::float64);
  ACCEL_TRY([[maybe_unused]] Unit possible, check_size(capture, shape, wanted));
  return capture.values().fresh_array(capture.build().full(zero_of(capture, wanted), shape, order, unread));
}

Result<Ref> zeros(Capture& capture, const CallArguments& arguments, bool unread) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"shape", "dtype", "order", "device", "like"}, 1, 3}));
  if (!is_none(given[4])) return fail(Reason::unsupported_argument, "like; plain form: the call without like");
  return zeros(capture, given[0], given[1], given[2], unread);
}

// Uninitialised memory may be zero, but NumPy's own code writes to all of it before it reads any.
bool is_unread(Capture& capture) { return capture.in_library(); }

// Whether the size must be checked: no extent is known at run time only (then all may be numbers of the program), several are,
// or one may be larger than the length of an existing array.
bool may_be_too_large(Capture& capture, const std::vector<Dim>& shape) {
  int found = 0;
  for (Dim extent : shape) {
    if (!capture.facts().is_runtime(extent)) continue;
    if (++found > 1 || capture.ranges().high(extent) > most_elements) return true;
  }
  return found == 0;
}

// Whether the number of elements is at most `most`, ensured by a guard. Extents of 0 count as 1, so that they do not hide large
// ones.
bool fits_at_entry(Capture& capture, std::vector<Dim> shape, int64_t most) {
  DimTable& dims = capture.dims();
  for (Dim& extent : shape) extent = shape.size() == 1 ? extent : dims.max(extent, dims.constant(1));
  const Dim count = dims.product(shape);
  return capture.facts().assume_fits(count) && capture.facts().expect(count, Comparison::le, dims.constant(most));
}

// Whether run-time extents have at most `most` elements in all. Compiled code checks each extent against the quotient left by
// the previous ones, since the product need not fit 64 bits.
bool fits_at_run_time(Capture& capture, const std::vector<Dim>& shape, int64_t most) {
  DimTable& dims = capture.dims();
  Dim left = dims.constant(most);
  for (Dim extent : shape) {
    if (!capture.facts().assume_fits(extent)) continue;  // an extent of existing memory, which capture cannot bound
    if (!capture.facts().expect(extent, Comparison::le, left)) return false;
    left = dims.floordiv(left, dims.max(extent, dims.constant(1)));
  }
  return true;
}

}  // namespace

Status check_size(Capture& capture, const std::vector<Dim>& shape, DType dtype) {
  if (!may_be_too_large(capture, shape)) return Unit{};
  DimTable& dims = capture.dims();
  double bytes = item_size(dtype);
  std::vector<Dim> open;
  bool at_run_time = false;
  for (Dim extent : shape) {
    at_run_time |= capture.facts().is_runtime(extent);
    if (auto known = dims.as_constant(extent)) {
      bytes *= std::max(static_cast<double>(*known), 1.0);
    } else {
      open.push_back(extent);
    }
  }
  bool fits = bytes <= surely_free();
  if (fits && !open.empty()) {
    const auto most = static_cast<int64_t>(surely_free() / bytes);
    fits = at_run_time ? fits_at_run_time(capture, open, most) : fits_at_entry(capture, open, most);
  }
  if (!fits) return fail(Reason::unsupported_argument, "an array that may be too large to exist");
  return Unit{};
}

Result<Ref> numpy_zeros(Capture& capture, PyObject*, const CallArguments& arguments) {
  return zeros(capture, arguments, false);
}
Result<Ref> numpy_empty(Capture& capture, PyObject*, const CallArguments& arguments) {
  return zeros(capture, arguments, is_unread(capture));
}

// ndarray(shape, dtype=float, buffer=None, offset=0, strides=None, order=None) without a buffer.
Result<Ref> numpy_ndarray(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"shape", "dtype", "buffer", "offset", "strides", "order"}, 1, 6}));
  if (!is_none(given[2]) || given[3] || !is_none(given[4]))
    return fail(Reason::unsupported_argument, "an ndarray of a buffer or with strides");
  return zeros(capture, given[0], given[1], given[5], is_unread(capture));
}

// The memory order of an array of another shape, but with as many axes, that is made like `prototype` with order 'K'. Axes of
// extent 1 count as NumPy has them; extents that are known at run time only are taken for larger ones.
std::vector<uint8_t> order_for_shape(Capture& capture, const Operand& prototype) {
  PathFacts& facts = capture.facts();
  const Dim one = capture.dims().constant(1);
  if (prototype.shape.size() < 2 || capture.graph().type(capture.memory().read(prototype.ref)).is_c_order()) return {};
  for (Dim extent : prototype.shape) {
    if (facts.is_runtime(extent)) facts.expect(one, Comparison::lt, extent);
  }
  if (has_no_elements(capture, prototype.shape) || is_c_contiguous(capture, prototype.ref)) return {};
  for (Dim extent : prototype.shape) facts.decide_equal(extent, one);
  return copy_order(capture, prototype.ref);
}

Result<Ref> numpy_empty_like(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"prototype", "dtype", "order", "subok", "shape", "device"}, 1}));
  ACCEL_TRY(Operand prototype, read_operand(capture, given[0]));
  ACCEL_TRY(auto dtype, read_dtype(capture, given[1]));
  ACCEL_TRY(std::string order, read_text(capture, given[2]));
  std::vector<Dim> shape = prototype.shape;
  std::vector<uint8_t> memory;
  if (!is_none(given[4])) {
    ACCEL_TRY(shape, read_shape(capture, given[4]));
    const bool is_like_prototype = order == "K" || order.empty();
    if (is_like_prototype && prototype.is_array() && shape.size() == prototype.shape.size())
      memory = order_for_shape(capture, prototype);
  } else if (prototype.is_array() && (order.empty() || order == "K")) {
    memory = copy_order(capture, prototype.ref);
  }
  if (order == "F" || order == "A") {
    ACCEL_TRY(memory, read_order(capture, given[2], shape.size()));
  }
  DType wanted = dtype.value_or(prototype.type.dtype);
  if (!is_none(given[4])) {
    ACCEL_TRY([[maybe_unused]] Unit possible, check_size(capture, shape, wanted));
  }
  ValueId zero = zero_of(capture, wanted);
  return capture.values().fresh_array(capture.build().full(zero, shape, memory, is_unread(capture)));
}

Result<ValueId> fill_value(Capture& capture, const Operand& number, DType dtype) {
  char from = dtype_kind(number.type.dtype), to = dtype_kind(dtype);
  if (from == 'c' && to != 'c' && to != 'b') return cast_failure(dtype);
  if (from == 'f' && (to == 'i' || to == 'u') && number.ref->kind == AbstractKind::constant) {
    uint64_t bits[2];
    if (!read_scalar(number.ref->object.get(), DType::float64, bits)) return cast_failure(dtype);
    double value = std::trunc(Literal{DType::float64, {bits[0], bits[1]}}.as_complex().real());
    if (!(std::fabs(value) < 9e18)) return cast_failure(dtype);
    PyRef whole = PyRef::steal(PyLong_FromDouble(value));
    return operand_value(capture, *as_operand(capture, capture.values().constant(whole.get())), dtype);
  }
  if (number.type.kind == Kind::py_float || number.type.kind == Kind::py_complex) {
    // Not weak: the number becomes an array of its own dtype first, and that cast may warn.
    ACCEL_TRY([[maybe_unused]] Unit in_range, require_element_in_range(capture, number, dtype));
    ACCEL_TRY(ValueId value, capture.values().scalar_value(number.ref));
    return capture.build().pointwise(Op::astype, {value}, {dtype}, ValueKind::numpy_scalar);
  }
  return operand_value(capture, number, dtype);
}

namespace {

// A nested sequence as a list of leaves and the extents of its levels.
struct Sequence {
  std::vector<Operand> leaves;
  std::vector<int64_t> levels;
};

bool is_range(const Ref& value) {
  return value->kind == AbstractKind::range || (value->kind == AbstractKind::constant && PyRange_Check(value->object.get()));
}

// The array of a range. NumPy makes an empty range an array of floats.
Result<Ref> array_of_range(Capture& capture, const Ref& range, std::optional<DType> dtype) {
  Ref bounds = range;
  if (range->kind == AbstractKind::constant) {
    ACCEL_TRY(bounds, constant_range(capture, range->object.get()));
  }
  ACCEL_TRY(Ref items, numpy_arange(capture, nullptr, {bounds->items, {}}));
  if (!dtype && !capture.facts().expect(layout_of(items).shape[0], Comparison::gt, capture.dims().constant(0)))
    dtype = DType::float64;
  if (!dtype || *dtype == layout_of(items).dtype) return items;
  return capture.values().fresh_array(capture.values().astype(capture.memory().read(items), *dtype));
}

Status walk(Capture& capture, const Ref& given, size_t level, Sequence& out) {
  const Descent descent;
  capture.resolver().look(given);
  Ref ref = given;
  if (is_range(ref)) {
    ACCEL_TRY(ref, array_of_range(capture, ref, std::nullopt));
  }
  if (auto leaf = as_operand(capture, ref)) {
    if (level != out.levels.size()) return fail(Reason::will_raise, "setting an array element with a sequence");
    if (out.leaves.size() == most_written) return fail(Reason::unsupported_value, "a sequence too long to be an array");
    out.leaves.push_back(std::move(*leaf));
    return Unit{};
  }
  if (ref->kind == AbstractKind::object) return capture.resolver().refusal(ref);
  if (ref->kind != AbstractKind::tuple && ref->kind != AbstractKind::list) {
    return fail(Reason::unsupported_value, "a sequence of anything but numbers and arrays");
  }
  auto size = static_cast<int64_t>(ref->items.size());
  if (level == out.levels.size()) {
    if (!out.leaves.empty()) return fail(Reason::will_raise, "setting an array element with a sequence");
    out.levels.push_back(size);
  } else if (out.levels[level] != size) {
    return fail(Reason::will_raise, "setting an array element with a sequence");
  }
  for (const Ref& item : ref->items) {
    ACCEL_TRY([[maybe_unused]] Unit done, walk(capture, item, level + 1, out));
  }
  return Unit{};
}

bool is_long(const Operand& number) {
  uint64_t bits[2];
  bool is_constant = number.type.kind == Kind::py_int && number.ref->kind == AbstractKind::constant;
  return is_constant && !read_scalar(number.ref->object.get(), DType::int64, bits);
}

// The dtype of an array of a sequence. Python numbers in it count as int64, float64, ..., not as weak types.
Result<DType> common_dtype(const std::vector<Operand>& leaves) {
  std::vector<OperandType> types;
  for (const Operand& leaf : leaves) {
    if (is_long(leaf))
      return fail(Reason::unsupported_value, "a Python int beyond int64 in a sequence");  // NumPy uses ulonglong, not uint64
    types.push_back({Kind::array, leaf.type.dtype});
  }
  if (types.empty()) return DType::float64;
  return numpy_result_type(types);
}

}  // namespace

bool is_array_sequence(const Ref& value) {
  return value->kind == AbstractKind::tuple || is_any_list(*value) || is_range(value);
}

Result<Ref> array_of_sequence(Capture& capture, const Ref& ref, std::optional<DType> dtype) {
  if (is_dynamic_list(ref)) return array_of_dynamic_list(capture, ref, dtype);
  if (is_range(ref)) return array_of_range(capture, ref, dtype);
  Sequence sequence;
  ACCEL_TRY([[maybe_unused]] Unit walked, walk(capture, ref, 0, sequence));
  if (!dtype) {
    ACCEL_TRY(dtype, common_dtype(sequence.leaves));
  }
  DimTable& dims = capture.dims();
  std::vector<Dim> shape;
  for (int64_t extent : sequence.levels) shape.push_back(dims.constant(extent));
  if (sequence.leaves.empty()) return capture.values().fresh_array(capture.build().full(zero_of(capture, *dtype), shape));
  const std::vector<Dim> inner = sequence.leaves[0].shape;
  std::vector<ValueId> parts;
  for (const Operand& leaf : sequence.leaves) {
    bool same = leaf.shape.size() == inner.size();
    for (size_t k = 0; same && k < inner.size(); ++k) same = capture.facts().decide_equal(leaf.shape[k], inner[k]);
    if (!same) return fail(Reason::will_raise, "the sequence has an inhomogeneous shape");
    if (!leaf.is_array()) {
      ACCEL_TRY([[maybe_unused]] Unit in_range, require_element_in_range(capture, leaf, *dtype));
    }
    Result<ValueId> value = leaf.is_array() ? Result<ValueId>(capture.values().astype(capture.memory().read(leaf.ref), *dtype))
                                            : fill_value(capture, leaf, *dtype);
    if (!value.ok()) return value.failure();
    parts.push_back(*value);
  }
  for (ValueId& part : parts) {
    bool number = capture.graph().type(part).rank() == 0;
    part = number ? capture.build().full(part, {dims.constant(1)})
                  : capture.build().expand_dims(with_shape(capture, part, inner), {0});
  }
  ValueId value = parts.size() == 1 ? parts[0] : capture.build().concatenate(parts, 0);
  shape.insert(shape.end(), inner.begin(), inner.end());
  ValueId shaped = with_shape(capture, value, shape);
  if (parts.size() > 1 && shaped == value) return capture.values().fresh_array(value);  // concatenate made fresh memory
  return copied(capture, shaped, {});
}

namespace {

enum class CopyMode : uint8_t { always, if_needed, never };

struct ArrayRequest {
  std::optional<DType> dtype;
  std::string order;  // empty or K: like the operand
  CopyMode copy = CopyMode::if_needed;
  int64_t least_rank = 0;
};

Result<Ref> from_array(Capture& capture, const Operand& operand, const ArrayRequest& request) {
  DType dtype = request.dtype.value_or(operand.type.dtype);
  std::string order = request.order.empty() ? "K" : request.order;
  bool fits = order == "A" || is_in_order(capture, operand.ref, order);
  if (request.copy != CopyMode::always && dtype == operand.type.dtype && fits) return operand.ref;
  if (request.copy == CopyMode::never) return fail(Reason::will_raise, "a copy is needed");
  if (dtype_kind(operand.type.dtype) == 'c' && dtype_kind(dtype) != 'c' && dtype != DType::bool_) return cast_failure(dtype);
  // For a copy of another dtype, NumPy treats order A as K.
  const bool keeps = order == "A" && dtype != operand.type.dtype;
  ACCEL_TRY(std::vector<uint8_t> memory, copy_order(capture, operand.ref, keeps ? "K" : order));
  return copied(capture, capture.values().astype(capture.memory().read(operand.ref), dtype), std::move(memory));
}

// Prepends axes of extent 1 with the strides of NumPy's _prepend_ones: those of C order, or of one element in Fortran order.
Ref with_leading_axes(Capture& capture, const Ref& array, size_t count, const std::string& order) {
  DimTable& dims = capture.dims();
  StridedLayout layout = layout_of(array);
  bool fortran =
      order == "F" || (layout.shape.size() > 1 && is_f_contiguous(capture, array) && !is_c_contiguous(capture, array));
  bool empty = has_no_elements(capture, layout.shape);
  Dim stride = empty && !fortran                 ? dims.constant(0)
               : fortran || layout.shape.empty() ? dims.constant(item_size(layout.dtype))
                                                 : dims.mul(layout.strides[0], layout.shape[0]);
  std::vector<int> axes(count);
  std::iota(axes.begin(), axes.end(), 0);
  ViewMaker view(capture, array);
  view.expand_dims(std::move(axes));
  layout.shape.insert(layout.shape.begin(), count, dims.constant(1));
  layout.strides.insert(layout.strides.begin(), count, stride);
  return view.finish(std::move(layout));
}

Result<Ref> from_number(Capture& capture, const Operand& operand, const ArrayRequest& request) {
  DType dtype = request.dtype.value_or(own_dtype(operand));
  ACCEL_TRY(ValueId value, fill_value(capture, operand, dtype));
  return capture.values().fresh_array(capture.build().full(value, {}));
}

Result<Ref> make_array(Capture& capture, const Ref& ref, const ArrayRequest& request) {
  if (!request.order.empty() && request.order != "K" && request.order != "C" && request.order != "F" && request.order != "A")
    return fail(Reason::will_raise, "order='" + request.order + "'");
  auto operand = as_operand(capture, ref);
  bool is_array = operand && operand->is_array();
  if (request.copy == CopyMode::never && !is_array) return fail(Reason::will_raise, "what is no array is copied");
  Result<Ref> made = is_array                 ? from_array(capture, *operand, request)
                     : operand                ? from_number(capture, *operand, request)
                     : is_array_sequence(ref) ? array_of_sequence(capture, ref, request.dtype)
                     : ref->kind == AbstractKind::object
                         ? Result<Ref>(capture.resolver().refusal(ref))
                         : Result<Ref>(fail(Reason::unsupported_value, "an array of this object"));
  if (!made.ok()) return made;
  if (!operand && request.order == "F")
    return fail(Reason::unsupported_argument,
                "order='F' for a sequence; plain form: numpy.asfortranarray(numpy.array(sequence))");
  auto rank = static_cast<int64_t>(layout_of(*made).shape.size());
  if (rank >= request.least_rank) return made;
  return with_leading_axes(capture, *made, static_cast<size_t>(request.least_rank - rank), request.order);
}

// The copy argument of asarray and array; None means to copy if needed.
Result<CopyMode> read_copy(Capture& capture, const Ref& ref, CopyMode when_missing) {
  if (!ref) return when_missing;
  if (is_none(ref)) return CopyMode::if_needed;
  ACCEL_TRY(bool copy, read_flag(capture, ref, true));
  return copy ? CopyMode::always : CopyMode::never;
}

Result<Ref> as_array(Capture& capture, const CallArguments& arguments, const char* forced_order, int64_t least_rank) {
  Signature signature{{"a", "dtype", "order", "device", "copy", "like"}, 1, 3};
  if (forced_order[0] != '\0') signature = {{"a", "dtype", "like"}, 1, 2};
  ACCEL_TRY(auto given, bind_arguments(arguments, signature));
  if (!is_none(given.back())) return fail(Reason::unsupported_argument, "like; plain form: the call without like");
  ArrayRequest request;
  ACCEL_TRY(request.dtype, read_dtype(capture, given[1]));
  request.order = forced_order;
  if (request.order.empty()) {
    ACCEL_TRY(request.order, read_text(capture, given[2]));
    ACCEL_TRY(request.copy, read_copy(capture, given[4], CopyMode::if_needed));
  }
  request.least_rank = least_rank;
  return make_array(capture, given[0], request);
}

}  // namespace

Result<Ref> numpy_array(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given,
            bind_arguments(arguments, {{"object", "dtype", "copy", "order", "subok", "ndmin", "ndmax", "like"}, 1, 2}));
  if (!is_none(given[6]) || !is_none(given[7]))
    return fail(Reason::unsupported_argument, "ndmax or like; plain form: the call without ndmax and like");
  ArrayRequest request;
  ACCEL_TRY(request.dtype, read_dtype(capture, given[1]));
  ACCEL_TRY(request.copy, read_copy(capture, given[2], CopyMode::always));
  ACCEL_TRY(request.order, read_text(capture, given[3]));
  if (given[5]) {
    ACCEL_TRY(request.least_rank, capture.constants().require_int(given[5]));
  }
  return make_array(capture, given[0], request);
}

Result<Ref> numpy_asarray(Capture& capture, PyObject*, const CallArguments& arguments) {
  return as_array(capture, arguments, "", 0);
}
Result<Ref> numpy_ascontiguousarray(Capture& capture, PyObject*, const CallArguments& arguments) {
  return as_array(capture, arguments, "C", 1);
}
Result<Ref> numpy_asfortranarray(Capture& capture, PyObject*, const CallArguments& arguments) {
  return as_array(capture, arguments, "F", 1);
}

// numpy.float64(value) and other scalar types.
Result<Ref> numpy_scalar_type(Capture& capture, PyObject* type, const CallArguments& arguments) {
  std::optional<DType> dtype;
  for (int k = 0; k < 14; ++k) {
    if (reinterpret_cast<PyObject*>(scalar_type_of(static_cast<DType>(k))) == type) dtype = static_cast<DType>(k);
  }
  if (!dtype || !arguments.keywords.empty() || arguments.positional.size() != 1)
    return fail(Reason::unsupported_argument, "arguments");
  EventCall events(capture, "cast");
  ACCEL_TRY(Operand operand, read_operand(capture, arguments.positional[0]));
  if (operand.is_array()) {
    if (!operand.shape.empty()) return from_array(capture, operand, {dtype, "", CopyMode::if_needed, 0});
    ACCEL_TRY(Ref array, from_array(capture, operand, {dtype, "", CopyMode::always, 0}));
    return wrap_result(capture, capture.build().pointwise(Op::astype, {capture.memory().read(array)}, {*dtype}), false);
  }
  if (operand.ref->kind == AbstractKind::scalar && operand.ref->scalar.dim && *dtype == DType::int64) {
    return capture.values().dim_scalar(*operand.ref->scalar.dim, ValueKind::numpy_scalar);
  }
  uint64_t bits[2];
  if (operand.ref->kind == AbstractKind::constant && read_scalar(operand.ref->object.get(), *dtype, bits)) {
    PyRef scalar = PyRef::steal(new_numpy_scalar(*dtype, bits));
    return capture.values().constant(scalar.get());
  }
  ACCEL_TRY(ValueId value, fill_value(capture, operand, *dtype));
  return wrap_result(capture, capture.build().pointwise(Op::astype, {value}, {*dtype}), false);
}

}  // namespace accel
