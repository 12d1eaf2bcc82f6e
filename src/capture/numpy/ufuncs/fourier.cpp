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

// A dtype of floats or complex numbers of 4 or 8 bytes each.
bool has_width(DType dtype) {
  return dtype == DType::float32 || dtype == DType::float64 || dtype == DType::complex64 || dtype == DType::complex128;
}
bool is_long(DType dtype) { return dtype == DType::float64 || dtype == DType::complex128; }

// The axis that axes=[(axis,), (), (axis,)] names.
std::optional<int> axis_of(const Ref& axes, int rank) {
  auto is_listed = [](const Ref& ref, size_t count) {
    return ref && (ref->kind == AbstractKind::tuple || ref->kind == AbstractKind::list) && ref->items.size() == count;
  };
  if (rank == 0) return std::nullopt;
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

// Reads the factor, a number. Whether it is a float32 of NumPy's; nothing for what is no number.
std::optional<bool> read_factor(const BoxedCall& call, const CallArguments& arguments, FourierForm& form) {
  form.factor_operand = operand_of(call, arguments, {1, ""});
  if (form.factor_operand) {
    const Type& type = call.operands[static_cast<size_t>(*form.factor_operand)];
    if (type.kind == ValueKind::array) return std::nullopt;
    const bool is_single = type.dtype == DType::float32;
    if (!is_single && type.dtype != DType::int64 && type.dtype != DType::float64) return std::nullopt;
    return is_single && type.kind == ValueKind::numpy_scalar;
  }
  PyObject* const number = constant_of(arguments.positional[1], nullptr);
  uint64_t bits[2] = {0, 0};
  if (number == nullptr || !read_scalar(number, DType::float64, bits)) return std::nullopt;
  form.factor = std::bit_cast<double>(bits[0]);
  return is_numpy_scalar(number) && dtype_of_scalar(number) == DType::float32;
}

// NumPy computes in floats of 4 bytes where operand and factor have the dtypes of such a loop, else in those of 8 bytes.
DeviceForm fourier_form(const Transform& transform, const BoxedCall& call, const CallArguments& arguments, const Ref& axes) {
  const Type &a = call.operands[0], &out = call.operands.back();
  FourierForm form;
  form.kind = transform.kind;
  form.is_odd = transform.is_odd;
  const std::optional<int> axis = axis_of(axes, a.rank());
  const bool has_operand = operand_of(call, arguments, {0, ""}) == 0 && a.kind == ValueKind::array;
  const bool has_dtypes = has_width(a.dtype) && has_width(out.dtype) && is_long(a.dtype) == is_long(out.dtype);
  const bool is_of_complex = dtype_kind(a.dtype) == 'c', is_to_real = dtype_kind(out.dtype) != 'c';
  if (!axis || !has_operand || !has_dtypes || a.rank() != out.rank()) return {};
  if ((transform.is_of_real() && is_of_complex) || transform.is_to_real() != is_to_real) return {};
  const std::optional<bool> has_single_factor = read_factor(call, arguments, form);
  if (!has_single_factor) return {};
  form.axis = *axis;
  form.is_single = *has_single_factor && !is_long(a.dtype) && is_of_complex != transform.is_of_real();
  return form;
}

}  // namespace

bool is_of_fft(PyObject* ufunc) {
  static const std::set<PyObject*> known = gufuncs_of("numpy.fft._pocketfft_umath");
  return known.contains(ufunc);
}

Result<Ref> fill_by_fft(Capture& capture, PyObject* ufunc, const CallArguments& arguments) {
  if (arguments.positional.size() != 2) return fail(Reason::unsupported_argument, "this call of " + short_repr(ufunc));
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
  ACCEL_TRY(BoxedArguments made, boxed_arguments(capture, ufunc, arguments));
  made.call.device_form = fourier_form(transform, made.call, arguments, axes);
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
