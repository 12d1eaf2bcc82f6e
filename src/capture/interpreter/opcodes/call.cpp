// Call instructions.

#include "capture/domain/repr.h"
#include "capture/interpreter/opcodes/table.h"
#include "capture/protocol/operations.h"
#include "capture/python/super.h"

namespace accel {

namespace {

struct Call {
  Ref callable;
  std::vector<Ref> receiver;  // none or one
  std::vector<Ref> values;
};

Call pop_call(Frame& frame, int argc) {
  auto& stack = frame.stack;
  auto is_null = [&](int at) { return stack[static_cast<size_t>(at)]->kind == AbstractKind::null; };
  int size = static_cast<int>(stack.size());
  CallSlots slots = call_slots(size, argc, is_null);
  Call call;
  call.callable = stack[static_cast<size_t>(slots.callable)];
  if (slots.receiver >= 0) call.receiver.push_back(stack[static_cast<size_t>(slots.receiver)]);
  call.values.assign(stack.begin() + slots.first_argument, stack.end());
  stack.resize(static_cast<size_t>(size - argc - 2));
  return call;
}

// Pushes a result. A select value forks the path.
Status push_result(Step& step, Frame& frame, const Ref& value) {
  if (value->kind != AbstractKind::select) {
    frame.push(value);
    return Unit{};
  }
  auto pushing = [&step](const Ref& chosen) {
    return [&step, chosen](Frame& below) { return push_result(step, below, chosen); };
  };
  ACCEL_TRY(Condition condition, condition_of(step.capture, value->items[1]));
  return step.interpreter.explorer().fork(condition, pushing(value->items[0]), pushing(value->items[2]));
}

// Executes the call. If it pushes a frame, the callee pushes the result on return; `step.frame` stays valid.
Status finish(Step& step, const Ref& callable, CallArguments arguments) {
  if (step.interpreter.call_sites().is_planned()) {
    ACCEL_TRY(Ref given, step.interpreter.call_sites().make(callable, arguments));
    step.frame.push(std::move(given));
    return Unit{};
  }
  if (arguments.positional.empty() && arguments.keywords.empty() && is_super(step.capture, callable)) {
    ACCEL_TRY(Ref made, super_of_frame(step.capture, step.frame.code(), step.frame.locals));
    step.frame.push(std::move(made));
    return Unit{};
  }
  ACCEL_TRY(std::optional<Ref> result, step.interpreter.calls().begin(callable, std::move(arguments)));
  if (!result) return Unit{};
  return push_result(step, step.frame, *result);
}

Status call(Step& step) {
  Call parts = pop_call(step.frame, step.instruction.arg);
  CallArguments arguments;
  // A method that load_special has loaded from an object of unknown state is called as a whole.
  const bool is_method = !parts.receiver.empty() && parts.receiver[0]->kind == AbstractKind::opaque;
  if (is_method)
    parts.callable = step.capture.values().method(parts.callable, parts.receiver[0]);
  else
    arguments.positional = std::move(parts.receiver);
  PyObject* names = step.instruction.object;
  size_t named = names == nullptr ? 0 : static_cast<size_t>(PyTuple_GET_SIZE(names));
  size_t plain = parts.values.size() - named;
  for (size_t i = 0; i < parts.values.size(); ++i) {
    if (i < plain) {
      arguments.positional.push_back(parts.values[i]);
    } else {
      arguments.keywords.emplace_back(utf8(PyTuple_GET_ITEM(names, static_cast<Py_ssize_t>(i - plain))), parts.values[i]);
    }
  }
  return finish(step, parts.callable, std::move(arguments));
}

Status add_mapping(Step& step, const Ref& mapping, CallArguments& arguments) {
  step.capture.resolver().look(mapping);
  if (mapping->kind != AbstractKind::dict) return fail(Reason::unsupported_call, "a mapping that is no dict");
  step.capture.changes().guard_length(mapping);
  for (size_t i = 0; i < mapping->keys.size(); ++i) {
    if (!PyUnicode_CheckExact(mapping->keys[i].get())) return fail(Reason::will_raise, "keywords must be strings");
    step.capture.resolver().look(mapping->items[i]);
    arguments.keywords.emplace_back(utf8(mapping->keys[i].get()), mapping->items[i]);
  }
  return Unit{};
}

Status call_function_ex(Step& step) {
  Call parts = pop_call(step.frame, 1 + step.instruction.arg);
  CallArguments arguments;
  arguments.positional = std::move(parts.receiver);
  ACCEL_TRY(std::vector<Ref> items, all_items(step.capture, parts.values[0]));
  arguments.positional.insert(arguments.positional.end(), items.begin(), items.end());
  if (step.instruction.arg == 1) {
    ACCEL_TRY([[maybe_unused]] Unit done, add_mapping(step, parts.values[1], arguments));
  }
  return finish(step, parts.callable, std::move(arguments));
}

}  // namespace

const OpcodeTable& call_ops() {
  static const OpcodeTable table = {{Opcode::call, call}, {Opcode::call_function_ex, call_function_ex}};
  return table;
}

}  // namespace accel
