// Building, extending and unpacking containers; strings.

#include <algorithm>

#include "capture/interpreter/opcodes/table.h"
#include "capture/protocol/operations.h"
#include "capture/protocol/primitive.h"
#include "capture/python/texts.h"

namespace accel {

namespace {

std::vector<Ref> pop_many(Frame& frame, int count) {
  auto first = frame.stack.end() - count;
  std::vector<Ref> values(first, frame.stack.end());
  frame.stack.erase(first, frame.stack.end());
  return values;
}

Ref make_dict() {
  Ref dict = std::make_shared<AbstractValue>();
  dict->kind = AbstractKind::dict;
  return dict;
}

Status build_tuple(Step& step) {
  step.frame.push(step.capture.values().tuple(pop_many(step.frame, step.instruction.arg)));
  return Unit{};
}

Status build_list(Step& step) {
  step.frame.push(step.capture.values().list(pop_many(step.frame, step.instruction.arg)));
  return Unit{};
}

Status build_map(Step& step) {
  std::vector<Ref> pairs = pop_many(step.frame, 2 * step.instruction.arg);
  Ref dict = make_dict();
  for (size_t i = 0; i < pairs.size(); i += 2) {
    ACCEL_TRY([[maybe_unused]] Unit done, set_item(step.capture, dict, pairs[i], pairs[i + 1]));
  }
  step.frame.push(std::move(dict));
  return Unit{};
}

Status build_const_key_map(Step& step) {
  Ref keys = step.frame.pop();
  std::vector<Ref> values = pop_many(step.frame, step.instruction.arg);
  Ref dict = make_dict();
  for (size_t i = 0; i < values.size(); ++i) {
    ACCEL_TRY([[maybe_unused]] Unit done, set_item(step.capture, dict, keys->items[i], values[i]));
  }
  step.frame.push(std::move(dict));
  return Unit{};
}

Status list_append(Step& step) {
  Ref value = step.frame.pop();
  step.frame.peek(step.instruction.arg)->items.push_back(value);
  return Unit{};
}

Status build_set(Step& step) {
  Ref set = make_set();
  for (const Ref& value : pop_many(step.frame, step.instruction.arg)) {
    ACCEL_TRY([[maybe_unused]] Unit done, add_to_set(step.capture, set, value));
  }
  step.frame.push(std::move(set));
  return Unit{};
}

Status set_add(Step& step) {
  Ref value = step.frame.pop();
  return add_to_set(step.capture, step.frame.peek(step.instruction.arg), value);
}

Status set_update(Step& step) {
  Ref more = step.frame.pop();
  ACCEL_TRY(std::vector<Ref> items, all_items(step.capture, more));
  for (const Ref& value : items) {
    ACCEL_TRY([[maybe_unused]] Unit done, add_to_set(step.capture, step.frame.peek(step.instruction.arg), value));
  }
  return Unit{};
}

Status map_add(Step& step) {
  Ref value = step.frame.pop(), key = step.frame.pop();
  return set_item(step.capture, step.frame.peek(step.instruction.arg), key, value);
}

Status list_extend(Step& step) {
  Ref more = step.frame.pop();
  return extend_list(step.capture, step.frame.peek(step.instruction.arg), more);
}

template <bool unique>
Status dict_merge(Step& step) {
  Ref more = step.frame.pop();
  step.capture.resolver().look(more);
  if (more->kind != AbstractKind::dict) return fail(Reason::unsupported_value, "a mapping that is no dict");
  Ref dict = step.frame.peek(step.instruction.arg);
  step.capture.changes().guard_length(more);
  for (size_t i = 0; i < more->keys.size(); ++i) {
    Ref key = step.capture.values().constant(more->keys[i].get());
    if (unique) {
      ACCEL_TRY(bool repeated, contains(step.capture, key, dict));
      if (repeated) return fail(Reason::will_raise, "an argument is given twice");
    }
    step.capture.resolver().look(more->items[i]);  // its guard ensures that the key is present
    ACCEL_TRY([[maybe_unused]] Unit done, set_item(step.capture, dict, key, more->items[i]));
  }
  return Unit{};
}

Status list_to_tuple(Step& step) {
  Ref list = step.frame.pop();
  if (list->kind != AbstractKind::list) return fail(Reason::unsupported_value, "a tuple of a list that grows");
  step.frame.push(step.capture.values().tuple(list->items));
  return Unit{};
}

// The items to unpack. The rows of an array, if a guard on their number holds.
Result<std::vector<Ref>> items_to_unpack(Step& step, const Ref& value, int64_t count, bool at_least) {
  step.capture.resolver().look(value);
  if (value->kind != AbstractKind::array || at_least) return all_items(step.capture, value);
  const std::vector<Dim>& shape = value->array.layout.shape;
  if (shape.empty()) return fail(Reason::unsupported_opcode, "unpacking of an array");
  if (!step.capture.facts().expect_equal(shape[0], step.capture.dims().constant(count))) {
    return fail(Reason::will_raise, "the number of values to unpack");
  }
  std::vector<Ref> items;
  for (int64_t i = 0; i < count; ++i) {
    ACCEL_TRY(Ref item, array_getitem(step.capture, value, step.capture.values().python_int(i)));
    items.push_back(std::move(item));
  }
  return items;
}

Status unpack_sequence(Step& step) {
  Ref value = step.frame.pop();
  auto count = static_cast<size_t>(step.instruction.arg);
  ACCEL_TRY(std::vector<Ref> items, items_to_unpack(step, value, step.instruction.arg, false));
  if (items.size() != count) return fail(Reason::will_raise, "the number of values to unpack");
  step.frame.stack.insert(step.frame.stack.end(), items.rbegin(), items.rend());
  return Unit{};
}

Status unpack_ex(Step& step) {
  Ref value = step.frame.pop();
  auto before = static_cast<size_t>(step.instruction.arg), after = static_cast<size_t>(step.instruction.arg2);
  ACCEL_TRY(std::vector<Ref> items, items_to_unpack(step, value, 0, true));
  if (items.size() < before + after) return fail(Reason::will_raise, "the number of values to unpack");
  auto middle = items.begin() + static_cast<std::ptrdiff_t>(before), tail = items.end() - static_cast<std::ptrdiff_t>(after);
  std::vector<Ref> out(items.begin(), middle);
  out.push_back(step.capture.values().list({middle, tail}));
  out.insert(out.end(), tail, items.end());
  step.frame.stack.insert(step.frame.stack.end(), out.rbegin(), out.rend());
  return Unit{};
}

// --- texts --------------------------------------------------------------------------------------------------------------

Status build_string(Step& step) {
  std::vector<Ref> parts = pop_many(step.frame, step.instruction.arg);
  PyRef empty = PyRef::steal(PyUnicode_FromString(""));
  if (std::any_of(parts.begin(), parts.end(), [](const Ref& part) { return part->kind == AbstractKind::text; })) {
    step.frame.push(make_text(PyRef::steal(PyObject_GetAttrString(empty.get(), "join")), {step.capture.values().tuple(parts)}));
    return Unit{};
  }
  ACCEL_TRY(PyRef strings, step.capture.constants().require_constant(step.capture.values().tuple(parts)));
  ACCEL_TRY(Ref joined, folded(step.capture, PyUnicode_Join(empty.get(), strings.get())));
  step.frame.push(std::move(joined));
  return Unit{};
}

Status push_text(Step& step, const char* function, const Ref& value, const Ref& spec = nullptr) {
  step.capture.resolver().look(value);
  PyRef callable = PyRef::borrow(PyDict_GetItemString(PyEval_GetBuiltins(), function));
  if (step.interpreter.call_sites().is_planned()) {
    CallArguments arguments;
    arguments.positional = {value};
    if (spec) arguments.positional.push_back(spec);
    ACCEL_TRY(Ref given, step.interpreter.call_sites().make(step.capture.values().constant(callable.get()), arguments));
    step.frame.push(std::move(given));
    return Unit{};
  }
  ACCEL_TRY(Ref text, text_of(step.capture, callable.get(), value, spec));
  step.frame.push(std::move(text));
  return Unit{};
}

Status convert_value(Step& step) {
  constexpr const char* functions[] = {"", "str", "repr", "ascii"};
  return push_text(step, functions[step.instruction.arg], step.frame.pop());
}

Status format_simple(Step& step) {
  if (step.frame.peek(1)->kind == AbstractKind::text) return Unit{};
  return push_text(step, "format", step.frame.pop());
}

Status format_with_spec(Step& step) {
  Ref spec = step.frame.pop(), value = step.frame.pop();
  return push_text(step, "format", value, spec);
}

}  // namespace

const OpcodeTable& container_ops() {
  static const OpcodeTable table = {
      {Opcode::build_tuple, build_tuple},
      {Opcode::build_list, build_list},
      {Opcode::build_map, build_map},
      {Opcode::build_const_key_map, build_const_key_map},
      {Opcode::build_string, build_string},
      {Opcode::list_append, list_append},
      {Opcode::map_add, map_add},
      {Opcode::build_set, build_set},
      {Opcode::set_add, set_add},
      {Opcode::set_update, set_update},
      {Opcode::list_extend, list_extend},
      {Opcode::dict_update, dict_merge<false>},
      {Opcode::dict_merge, dict_merge<true>},
      {Opcode::list_to_tuple, list_to_tuple},
      {Opcode::unpack_sequence, unpack_sequence},
      {Opcode::unpack_ex, unpack_ex},
      {Opcode::convert_value, convert_value},
      {Opcode::format_simple, format_simple},
      {Opcode::format_with_spec, format_with_spec},
  };
  return table;
}

}  // namespace accel
