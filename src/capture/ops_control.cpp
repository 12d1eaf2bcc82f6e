// Jumps, loops, returns and raises.

#include "capture/ops.h"
#include "capture/semantics.h"

namespace accel {

namespace {

Status jump(Step& step) {
  step.frame.next = step.instruction.target;
  return Unit{};
}

template <bool wanted>
Status pop_jump_if(Step& step) {
  ACCEL_TRY(bool value, truth(step.capture, step.frame.pop()));
  return value == wanted ? jump(step) : Status(Unit{});
}

template <bool wanted>
Status pop_jump_if_none(Step& step) {
  ACCEL_TRY(bool none, is_same(step.capture, step.frame.pop(), step.capture.constant(Py_None)));
  return none == wanted ? jump(step) : Status(Unit{});
}

template <bool wanted>
Status jump_if_or_pop(Step& step) {
  ACCEL_TRY(bool value, truth(step.capture, step.frame.peek(1)));
  if (value == wanted) return jump(step);
  step.frame.pop();
  return Unit{};
}

Status get_iter(Step& step) {
  ACCEL_TRY(Ref iterator, get_iterator(step.capture, step.frame.pop()));
  step.frame.push(std::move(iterator));
  return Unit{};
}

Status for_iter(Step& step) {
  ACCEL_TRY(std::optional<Ref> item, next_item(step.capture, step.frame.peek(1)));
  if (item) {
    step.frame.push(*item);
    return Unit{};
  }
  step.frame.pop();
  return jump(step);
}

Status return_value(Step& step) { return step.interpreter.leave(step.frame.pop()); }

Status raise(Step&) { return fail(Reason::will_raise, "the code raises an exception here"); }

}  // namespace

const OpcodeTable& control_ops() {
  static const OpcodeTable table = {
      {Opcode::jump, jump},
      {Opcode::pop_jump_if_true, pop_jump_if<true>},
      {Opcode::pop_jump_if_false, pop_jump_if<false>},
      {Opcode::pop_jump_if_none, pop_jump_if_none<true>},
      {Opcode::pop_jump_if_not_none, pop_jump_if_none<false>},
      {Opcode::jump_if_true_or_pop, jump_if_or_pop<true>},
      {Opcode::jump_if_false_or_pop, jump_if_or_pop<false>},
      {Opcode::get_iter, get_iter},
      {Opcode::for_iter, for_iter},
      {Opcode::return_value, return_value},
      {Opcode::raise_varargs, raise},
  };
  return table;
}

}  // namespace accel
