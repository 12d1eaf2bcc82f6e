// Jumps, loops and returns.

#include "capture/interpreter/opcodes/table.h"
#include "capture/protocol/iterators.h"
#include "capture/protocol/operations.h"

namespace accel {

namespace {

Status jump(Step& step) {
  step.frame.next = step.instruction.target;
  return Unit{};
}

void note_decided(Step& step, bool jumps) {
  const int next = step.frame.next, target = step.instruction.target;
  step.interpreter.interrupts().note_decided_jump(jumps ? target : next, jumps ? next : target);
}

// Jumps to the target if the truth of `value` is `wanted`; for a run-time value the path forks. If it does not jump,
// `drops_when_staying` pops the top of the stack.
Status jump_on(Step& step, const Ref& value, bool wanted, bool drops_when_staying) {
  int target = step.instruction.target;
  auto take = [target](Frame& frame) -> Status {
    frame.next = target;
    return Unit{};
  };
  auto stay = [drops_when_staying](Frame& frame) -> Status {
    if (drops_when_staying) frame.pop();
    return Unit{};
  };
  ACCEL_TRY(Condition condition, condition_of(step.capture, value));
  if (condition.known) {
    note_decided(step, *condition.known == wanted);
    return *condition.known == wanted ? take(step.frame) : stay(step.frame);
  }
  return wanted ? step.interpreter.explorer().fork(condition, take, stay)
                : step.interpreter.explorer().fork(condition, stay, take);
}

template <bool wanted>
Status pop_jump_if(Step& step) {
  Ref value = step.frame.pop();
  return jump_on(step, value, wanted, false);
}

template <bool wanted>
Status pop_jump_if_none(Step& step) {
  ACCEL_TRY(bool none, is_same(step.capture, step.frame.pop(), step.capture.values().constant(Py_None)));
  note_decided(step, none == wanted);
  return none == wanted ? jump(step) : Status(Unit{});
}

template <bool wanted>
Status jump_if_or_pop(Step& step) {
  Ref value = step.frame.peek(1);
  return jump_on(step, value, wanted, true);
}

Status get_iter(Step& step) {
  ACCEL_TRY(Ref iterator, get_iterator(step.capture, step.frame.pop()));
  step.frame.push(std::move(iterator));
  return Unit{};
}

Status for_iter(Step& step) {
  Interpreter& interpreter = step.interpreter;
  int target = step.instruction.target;
  auto next = [&interpreter](Frame& frame) -> Status {
    ACCEL_TRY(Ref item, take(interpreter.capture(), frame.iterator()));
    frame.push(std::move(item));
    return Unit{};
  };
  auto end = [&interpreter, target](Frame& frame) -> Status {
    const int header = frame.next - 1;
    Ref iterator = frame.iterator();
    frame.drop_iterator();
    frame.next = target;
    interpreter.merger().name_lengths(frame, header, iterator);
    return Unit{};
  };
  ACCEL_TRY(bool consumes, interpreter.generators().consume(step.frame.iterator()));
  if (consumes) return Unit{};
  ACCEL_TRY(Condition more, supply(step.capture, step.frame.iterator()));
  if (more.known) return *more.known ? next(step.frame) : end(step.frame);
  return interpreter.explorer().fork(more, next, end);
}

Status return_value(Step& step) { return step.interpreter.frames().leave(step.frame.pop()); }

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
  };
  return table;
}

}  // namespace accel
