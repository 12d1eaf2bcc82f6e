#include "capture/numpy/calls/form_arguments.h"

#include <algorithm>

#include "capture/protocol/operands.h"
#include "capture/protocol/ufunc_calls.h"

namespace accel {
namespace {

// The number of the argument among all of a call, those by position first.
std::optional<size_t> number_of(const CallArguments& arguments, const Parameter& parameter) {
  if (parameter.position < arguments.positional.size()) return parameter.position;
  const auto found =
      std::ranges::find_if(arguments.keywords, [&](const auto& keyword) { return keyword.first == parameter.name; });
  if (found == arguments.keywords.end()) return std::nullopt;
  return arguments.positional.size() + static_cast<size_t>(found - arguments.keywords.begin());
}

}  // namespace

PyObject* constant_of(const Ref& given, PyObject* when_missing) {
  if (!given) return when_missing;
  return given->kind == AbstractKind::constant ? given->object.get() : nullptr;
}

std::optional<std::string_view> text_of(PyObject* object) {
  if (object == nullptr || !PyUnicode_CheckExact(object)) return std::nullopt;
  const char* text = PyUnicode_AsUTF8(object);
  if (text == nullptr) PyErr_Clear();
  return text != nullptr ? std::optional<std::string_view>(text) : std::nullopt;
}

std::optional<int> operand_of(const BoxedCall& call, const CallArguments& arguments, const Parameter& parameter) {
  const std::optional<size_t> number = number_of(arguments, parameter);
  if (!number || call.arguments[*number].kind != CallPart::Kind::operand) return std::nullopt;
  return call.arguments[*number].operand;
}

Status cast_argument(Capture& capture, CallArguments& arguments, const Parameter& parameter, DType dtype) {
  const std::optional<size_t> number = number_of(arguments, parameter);
  if (!number) return Unit{};
  const size_t positional = arguments.positional.size();
  Ref& argument = *number < positional ? arguments.positional[*number] : arguments.keywords[*number - positional].second;
  std::optional<Operand> operand = as_operand(capture, argument);
  if (!operand || !operand->is_array() || operand->type.dtype == dtype) return Unit{};
  ACCEL_TRY(ValueId value, operand_value(capture, *operand, dtype));
  argument = wrap_result(capture, value, true);
  return Unit{};
}

}  // namespace accel
