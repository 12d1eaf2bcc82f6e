// Operators, comparisons and subscripts.

#include "capture/interpreter/opcodes/table.h"
#include "capture/protocol/conditions.h"
#include "capture/protocol/operations.h"

namespace accel {

namespace {

Status push(Step& step, Result<Ref> result) {
  ACCEL_TRY(Ref value, std::move(result));
  step.frame.push(std::move(value));
  return Unit{};
}

Status push_bool(Step& step, Result<bool> result, bool negate) {
  ACCEL_TRY(bool value, std::move(result));
  step.frame.push(make_bool(step.capture, value != negate));
  return Unit{};
}

Status apply_binary_op(Step& step) {
  Ref right = step.frame.pop(), left = step.frame.pop();
  Temporaries temporaries{step.interpreter.is_temporary(left), step.interpreter.is_temporary(right)};
  return push(step, binary_operation(step.capture, step.instruction.arg, step.instruction.arg2 != 0, left, right, temporaries));
}

template <char op>
Status unary_op(Step& step) {
  return push(step, unary_operation(step.capture, op, step.frame.pop()));
}

Status unary_not(Step& step) { return push(step, truth_value(step.capture, step.frame.pop(), true)); }

Status to_bool(Step& step) { return push(step, truth_value(step.capture, step.frame.pop())); }

// Whether the next instruction uses only the truth of the result.
bool is_asked_for_truth(const Step& step) {
  const Opcode next = step.frame.bytecode().instructions[static_cast<size_t>(step.frame.next)].op;
  return next == Opcode::pop_jump_if_true || next == Opcode::pop_jump_if_false || next == Opcode::to_bool;
}

Status compare_op(Step& step) {
  Ref right = step.frame.pop(), left = step.frame.pop();
  return push(step, compare(step.capture, step.instruction.arg, left, right, is_asked_for_truth(step)));
}

Status is_op(Step& step) {
  Ref right = step.frame.pop(), left = step.frame.pop();
  return push_bool(step, is_same(step.capture, left, right), step.instruction.arg != 0);
}

Status contains_op(Step& step) {
  Ref container = step.frame.pop(), item = step.frame.pop();
  ACCEL_TRY(Condition found, membership_condition(step.capture, item, container));
  step.frame.push(condition_value(step.capture, found, step.instruction.arg != 0));
  return Unit{};
}

Status binary_subscr(Step& step) {
  Ref key = step.frame.pop(), container = step.frame.pop();
  ACCEL_TRY(std::optional<Ref> method, python_getitem(step.capture, container));
  if (method) {
    ACCEL_TRY(std::optional<Ref> result, step.interpreter.calls().begin(*method, {{key}, {}}));
    if (result) step.frame.push(std::move(*result));
    return Unit{};
  }
  return push(step, get_item(step.capture, container, key));
}

Status binary_slice(Step& step) {
  Ref stop = step.frame.pop(), start = step.frame.pop(), container = step.frame.pop();
  Ref slice = make_slice(step.capture, start, stop, step.capture.values().constant(Py_None));
  return push(step, get_item(step.capture, container, slice));
}

Status store_subscr(Step& step) {
  Ref key = step.frame.pop(), container = step.frame.pop(), value = step.frame.pop();
  return set_item(step.capture, container, key, value);
}

Status store_slice(Step& step) {
  Ref stop = step.frame.pop(), start = step.frame.pop(), container = step.frame.pop(), value = step.frame.pop();
  Ref slice = make_slice(step.capture, start, stop, step.capture.values().constant(Py_None));
  return set_item(step.capture, container, slice, value);
}

Status delete_subscr(Step& step) {
  Ref key = step.frame.pop(), container = step.frame.pop();
  return delete_item(step.capture, container, key);
}

Status build_slice(Step& step) {
  Ref last = step.instruction.arg == 3 ? step.frame.pop() : step.capture.values().constant(Py_None);
  Ref stop = step.frame.pop(), start = step.frame.pop();
  step.frame.push(make_slice(step.capture, start, stop, last));
  return Unit{};
}

}  // namespace

const OpcodeTable& operator_ops() {
  static const OpcodeTable table = {
      {Opcode::binary_op, apply_binary_op},    {Opcode::unary_positive, unary_op<'+'>},
      {Opcode::unary_negative, unary_op<'-'>}, {Opcode::unary_invert, unary_op<'~'>},
      {Opcode::unary_not, unary_not},          {Opcode::to_bool, to_bool},
      {Opcode::compare_op, compare_op},        {Opcode::is_op, is_op},
      {Opcode::contains_op, contains_op},      {Opcode::binary_subscr, binary_subscr},
      {Opcode::binary_slice, binary_slice},    {Opcode::store_subscr, store_subscr},
      {Opcode::store_slice, store_slice},      {Opcode::delete_subscr, delete_subscr},
      {Opcode::build_slice, build_slice},
  };
  return table;
}

}  // namespace accel
