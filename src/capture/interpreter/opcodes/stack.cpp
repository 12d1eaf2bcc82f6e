// Constants and the value stack itself.

#include "capture/interpreter/opcodes/table.h"

namespace accel {

namespace {

Status nop(Step&) { return Unit{}; }

Status load_const(Step& step) {
  step.frame.push(step.capture.values().constant(step.instruction.object));
  return Unit{};
}

Status pop_top(Step& step) {
  step.frame.pop();
  return Unit{};
}

Status push_null(Step& step) {
  step.frame.push(step.interpreter.null());
  return Unit{};
}

Status copy(Step& step) {
  step.frame.push(Ref(step.frame.peek(step.instruction.arg)));
  return Unit{};
}

Status swap(Step& step) {
  auto& stack = step.frame.stack;
  std::swap(stack.back(), stack[stack.size() - static_cast<size_t>(step.instruction.arg)]);
  return Unit{};
}

}  // namespace

const OpcodeTable& stack_ops() {
  static const OpcodeTable table = {
      {Opcode::nop, nop},         {Opcode::resume, nop},          {Opcode::load_const, load_const},
      {Opcode::pop_top, pop_top}, {Opcode::push_null, push_null}, {Opcode::copy, copy},
      {Opcode::swap, swap},       {Opcode::end_for, pop_top},
  };
  return table;
}

}  // namespace accel
