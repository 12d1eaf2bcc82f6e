#include "capture/numpy/calls/form_arguments.h"

#include "capture/protocol/operands.h"
#include "capture/protocol/ufunc_calls.h"

namespace accel {
namespace {

// How a call passes one of its arguments. Null where it does not.
const CallPart* part_of(const BoxedCall& call, const CallArguments& arguments, const Ref& given) {
  size_t at = 0;
  for (const Ref& argument : arguments.positional)
    if (const CallPart* part = &call.arguments[at++]; argument == given) return part;
  for (const auto& [name, argument] : arguments.keywords)
    if (const CallPart* part = &call.arguments[at++]; argument == given) return part;
  return nullptr;
}

void replace(CallArguments& arguments, const Ref& from, const Ref& to) {
  for (Ref& argument : arguments.positional)
    if (argument == from) argument = to;
  for (auto& [name, argument] : arguments.keywords)
    if (argument == from) argument = to;
}

}  // namespace

PyObject* constant_of(const Ref& given, PyObject* when_missing) {
  if (!given) return when_missing;
  return given->kind == AbstractKind::constant ? given->object.get() : nullptr;
}

std::optional<int> operand_of(const BoxedCall& call, const CallArguments& arguments, const Ref& given) {
  const CallPart* part = part_of(call, arguments, given);
  return part != nullptr && part->kind == CallPart::Kind::operand ? std::optional(part->operand) : std::nullopt;
}

Result<Ref> cast_argument(Capture& capture, CallArguments& arguments, const Ref& given, DType dtype) {
  std::optional<Operand> operand = as_operand(capture, given);
  if (!operand || !operand->is_array() || operand->type.dtype == dtype) return given;
  ACCEL_TRY(ValueId value, operand_value(capture, *operand, dtype));
  Ref made = wrap_result(capture, value, true);
  replace(arguments, given, made);
  return made;
}

}  // namespace accel
