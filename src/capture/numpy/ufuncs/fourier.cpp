// gufuncs of numpy.fft: boxed calls, for which devices have a library.

#include <bit>
#include <string_view>

#include "capture/domain/repr.h"
#include "capture/numpy/calls/form_arguments.h"
#include "capture/numpy/ufuncs/gufuncs.h"
#include "capture/protocol/operands.h"
#include "ndarray/array.h"

namespace accel {
namespace {

struct Transform {
  FourierForm::Kind kind = FourierForm::Kind::forward;
  bool is_odd = false;
  bool is_of_real() const { return kind == FourierForm::Kind::real_forward; }
  bool is_to_real() const { return kind == FourierForm::Kind::real_backward; }
};

// By the name of a gufunc.
Transform transform_of(std::string_view name) {
  if (name == "irfft") return {FourierForm::Kind::real_backward, false};
  if (name == "rfft_n_even" || name == "rfft_n_odd") return {FourierForm::Kind::real_forward, name == "rfft_n_odd"};
  return {name == "ifft" ? FourierForm::Kind::backward : FourierForm::Kind::forward, false};
}

bool is_long_float(DType dtype) { return dtype == DType::float64 || dtype == DType::complex128; }
DType float_of(bool is_long) { return is_long ? DType::float64 : DType::float32; }
DType complex_of(bool is_long) { return is_long ? DType::complex128 : DType::complex64; }

// Casts the operand to the dtype of the gufunc's loop. Whether its dtype, and that of `out`, are those of one loop.
Result<bool> cast_operand(Capture& capture, const Transform& transform, CallArguments& arguments, const Ref& out) {
  const std::optional<Operand> a = as_operand(capture, arguments.positional[0]), result = as_operand(capture, out);
  if (!a || !result || !a->is_array() || (dtype_kind(a->type.dtype) != 'f' && dtype_kind(a->type.dtype) != 'c')) return false;
  const bool is_long = is_long_float(a->type.dtype), is_of_complex = dtype_kind(a->type.dtype) == 'c';
  if (a->type.dtype == DType::float16 || (transform.is_of_real() && is_of_complex)) return false;
  if (result->type.dtype != (transform.is_to_real() ? float_of(is_long) : complex_of(is_long))) return false;
  const DType loop = transform.is_of_real() ? float_of(is_long) : complex_of(is_long);
  ACCEL_TRY([[maybe_unused]] Ref cast, cast_argument(capture, arguments, arguments.positional[0], loop));
  return true;
}

// The axis that axes=[(axis,), (), (axis,)] names.
std::optional<int> axis_of(const Ref& axes, int rank) {
  auto is_listed = [](const Ref& ref, size_t count) {
    return ref && (ref->kind == AbstractKind::tuple || ref->kind == AbstractKind::list) && ref->items.size() == count;
  };
  if (!axes) return rank - 1;
  if (!is_listed(axes, 3) || !is_listed(axes->items[0], 1) || !is_listed(axes->items[2], 1)) return std::nullopt;
  std::optional<int> found;
  for (size_t k : {0, 2}) {
    PyObject* const number = constant_of(axes->items[k]->items[0], nullptr);
    if (number == nullptr || !PyLong_CheckExact(number)) return std::nullopt;
    int overflows = 0;
    const int64_t axis = PyLong_AsLongLongAndOverflow(number, &overflows);
    if (overflows != 0 || axis < -rank || axis >= rank) return std::nullopt;
    const int own = static_cast<int>(axis < 0 ? axis + rank : axis);
    if (found && *found != own) return std::nullopt;
    found = own;
  }
  return found;
}

// Reads the factor: a Python number, or a NumPy number of the loop's dtype. False for others.
bool read_factor(const BoxedCall& call, const CallArguments& arguments, DType real, FourierForm& form) {
  const Ref& given = arguments.positional[1];
  form.factor_operand = operand_of(call, arguments, given);
  if (form.factor_operand) {
    const Type& type = call.operands[static_cast<size_t>(*form.factor_operand)];
    const bool is_number = type.dtype == DType::int64 || type.dtype == DType::float64;
    return type.kind == ValueKind::py_scalar ? is_number : type.kind == ValueKind::numpy_scalar && type.dtype == real;
  }
  PyObject* const number = constant_of(given, nullptr);
  if (number == nullptr || (is_numpy_scalar(number) && dtype_of_scalar(number) != real)) return false;
  uint64_t bits[2] = {0, 0};
  const bool is_read = read_scalar(number, DType::float64, bits);
  if (is_read) form.factor = std::bit_cast<double>(bits[0]);
  return is_read;
}

DeviceForm fourier_form(const Transform& transform, const BoxedCall& call, const CallArguments& arguments, const Ref& axes) {
  const Type& a = call.operands[0];
  FourierForm form;
  form.kind = transform.kind;
  form.is_odd = transform.is_odd;
  const std::optional<int> axis = axis_of(axes, a.rank());
  const bool has_operands =
      operand_of(call, arguments, arguments.positional[0]) == 0 && a.rank() == call.operands.back().rank();
  if (!axis || !has_operands || !read_factor(call, arguments, float_of(is_long_float(a.dtype)), form)) return {};
  form.axis = *axis;
  return form;
}

}  // namespace

bool is_of_fft(PyObject* ufunc) {
  static const std::set<PyObject*> known = gufuncs_of("numpy.fft._pocketfft_umath");
  return known.contains(ufunc);
}

Result<Ref> fill_by_fft(Capture& capture, PyObject* ufunc, const CallArguments& call_arguments) {
  CallArguments arguments = call_arguments;
  Ref out, axes;
  for (const auto& [name, argument] : arguments.keywords) {
    if (name == "out") out = argument;
    if (name == "axes") axes = argument;
    if (name != "out" && name != "axes") return fail(Reason::unsupported_argument, name + " of this gufunc");
  }
  bool last = out && arguments.keywords.back().second == out && out->kind == AbstractKind::array;
  if (!last || !out->array.path.empty()) return fail(Reason::unsupported_argument, "this call of " + short_repr(ufunc));
  ACCEL_TRY([[maybe_unused]] Unit storable, capture.memory().check_storable(out));
  const Transform transform = transform_of(text_attribute(ufunc, "__name__"));
  ACCEL_TRY(const bool is_cast, cast_operand(capture, transform, arguments, out));
  ACCEL_TRY(BoxedArguments made, boxed_arguments(capture, ufunc, arguments));
  if (is_cast) made.call.device_form = fourier_form(transform, made.call, arguments, axes);
  made.call.changed = static_cast<int>(made.operands.size()) - 1;
  made.call.drops_answer = true;
  made.call.raises_events = true;
  made.call.errstate = capture.events().errstate();
  const Type type = capture.graph().type(made.operands.back());
  BoxedResult result{ValueKind::array, type.dtype, {type.shape.begin(), type.shape.end()}, type.order};
  Ref filled = boxed_call(capture, std::move(made), {result})[0];
  capture.memory().store(out, capture.memory().read(filled));
  return out;
}

}  // namespace accel
