// Functions made by the captured code. Their items are globals, defaults, kwdefaults, closure, annotations.

#include "capture/interpreter/opcodes/table.h"
#include "capture/protocol/operations.h"

namespace accel {

namespace {

Status make_function(Step& step) {
  Ref code = step.frame.pop();
  Ref function = std::make_shared<AbstractValue>();
  function->kind = AbstractKind::function;
  function->object = code->object;
  function->items.resize(5);
  function->items[0] = step.capture.values().constant(step.frame.globals.get());
  step.frame.push(std::move(function));
  return Unit{};
}

Status set_function_attribute(Step& step) {
  Ref function = step.frame.pop(), value = step.frame.pop();
  size_t item = 0;
  switch (step.instruction.arg) {
    case fn_defaults:
      item = 1;
      break;
    case fn_kwdefaults:
      item = 2;
      break;
    case fn_closure:
      item = 3;
      break;
    default:
      item = 4;
      break;
  }
  function->items[item] = value;
  step.frame.push(std::move(function));
  return Unit{};
}

}  // namespace

const OpcodeTable& function_ops() {
  static const OpcodeTable table = {
      {Opcode::make_function, make_function},
      {Opcode::set_function_attribute, set_function_attribute},
  };
  return table;
}

}  // namespace accel
