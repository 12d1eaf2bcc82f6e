#include "capture/interpreter/generators.h"

#include <utility>

#include "capture/interpreter/interpreter.h"
#include "capture/interpreter/opcodes/table.h"
#include "capture/protocol/operations.h"
#include "cpython/function.h"

namespace accel {

namespace {

Ref values_tuple(std::vector<Ref> values) {
  Ref tuple = std::make_shared<AbstractValue>();
  tuple->kind = AbstractKind::tuple;
  tuple->items = std::move(values);
  return tuple;
}

// Moves the frame into the abstract value: its items become the function, the locals and the stack.
void suspend(const Ref& generator, Frame& frame) {
  generator->items = {frame.function, values_tuple(std::move(frame.locals)), values_tuple(std::move(frame.stack))};
  generator->position = static_cast<size_t>(frame.next);
  frame.generator.reset();
  generator->suspended = std::make_shared<const Frame>(std::move(frame));
}

std::unique_ptr<Frame> resumed(const Ref& generator) {
  auto frame = std::make_unique<Frame>(*generator->suspended);
  frame->locals = generator->items[1]->items;
  frame->stack = generator->items[2]->items;
  frame->next = static_cast<int>(generator->position);
  frame->generator = generator;
  generator->items.clear();  // empty while it runs; stays empty if it fails, which means exhausted
  return frame;
}

// Whether closing the generator at this yield would run code: it is inside a try or with statement.
bool has_cleanup(const Frame& frame, const Instruction& instruction) {
  if (instruction.handler < 0) return false;
  const Handler& handler = frame.bytecode().handlers[static_cast<size_t>(instruction.handler)];
  return frame.bytecode().instructions[static_cast<size_t>(handler.target)].op != Opcode::stopiteration_error;
}

Status return_generator(Step& step) { return step.interpreter.generators().make(); }

Status yield_value(Step& step) {
  if (has_cleanup(step.frame, step.instruction)) return fail(Reason::generator, "a yield in a try or with statement");
  return step.interpreter.generators().yield(step.frame.pop());
}

}  // namespace

Status Generators::make() {
  if (walk_.frames.size() == 1) return fail(Reason::generator, "the compiled function is a generator");
  Frame frame = *walk_.frames.back();
  frame.push(capture_.values().constant(Py_None));  // what the first next() sends
  frame.before_call.reset();
  Ref generator = std::make_shared<AbstractValue>();
  generator->kind = AbstractKind::generator;
  suspend(generator, frame);
  return interpreter_.frames().leave(std::move(generator));
}

bool has_begun(const AbstractValue& generator) {
  const auto& instructions = generator.suspended->bytecode().instructions;
  return generator.items.empty() || generator.iterated || instructions[generator.position - 1].op != Opcode::return_generator;
}

std::vector<Ref> arguments_of_generator(const AbstractValue& generator) {
  const std::vector<Ref>&locals = generator.items[1]->items, &stack = generator.items[2]->items;
  PyCodeObject* code = generator.suspended->code();
  std::vector<Ref> arguments;
  for (int k = 0; k < code->co_argcount; ++k) {
    const Ref& local = locals[static_cast<size_t>(k)];
    arguments.push_back(local_kind(code, k) == LocalKind::cell ? local->items[0] : local);
  }
  if (stack.size() > 1) arguments[0] = stack[0];
  return arguments;
}

Status Generators::yield(Ref value) {
  std::unique_ptr<Frame> frame = std::move(walk_.frames.back());
  walk_.frames.pop_back();
  frame->push(capture_.values().constant(Py_None));  // what next() sends
  interpreter_.explorer().forget_dead(*frame, false);
  Ref generator = frame->generator;
  bool nested = frame->nested;
  suspend(generator, *frame);
  if (!nested) {
    walk_.frames.back()->push(std::move(value));
    return Unit{};
  }
  walk_.nested_result = {std::move(value), NestedResult::End::yielded};
  return Unit{};
}

Result<std::optional<Ref>> Generators::next(const Ref& generator) {
  if (generator->items.empty()) return std::optional<Ref>();
  ACCEL_TRY([[maybe_unused]] Unit shallow, interpreter_.frames().check_depth(generator->suspended->bytecode().code.get()));
  size_t base = walk_.frames.size();
  walk_.frames.push_back(resumed(generator));
  walk_.frames.back()->nested = true;
  if (Status done = interpreter_.run_nested(base); !done.ok()) return done.failure();
  if (walk_.nested_result.end != NestedResult::End::yielded) return std::optional<Ref>();
  return std::optional<Ref>(std::move(walk_.nested_result.value));
}

Result<bool> Generators::consume(const Ref& iterator) {
  bool fresh = iterator->kind == AbstractKind::generator && !iterator->iterated && !iterator->items.empty();
  if (!fresh || !is_walked(place_of(walk_.frames_before()))) return false;
  ACCEL_TRY([[maybe_unused]] Unit shallow, interpreter_.frames().check_depth(iterator->suspended->bytecode().code.get()));
  walk_.frames.push_back(resumed(iterator));
  walk_.frames.back()->nested = false;
  return true;
}

void Generators::end_consumer() {
  Frame& frame = *walk_.frames.back();
  frame.drop_iterator();
  frame.next = frame.bytecode().instructions[static_cast<size_t>(frame.next) - 1].target;
}

bool Generators::is_walked(const std::string& place) {
  if (walk_.nesting > 0) return false;
  if (!walk_.frames.empty() && walk_.frames.back()->before_call) return true;
  auto known = speculation_.control.walked.find(place);
  if (known == speculation_.control.walked.end()) walk_.running.walkable = place;
  return known != speculation_.control.walked.end() && known->second;
}

bool Generators::may_be_walked(const std::string& place) const {
  auto known = speculation_.control.walked.find(place);
  return walk_.nesting == 0 && (known == speculation_.control.walked.end() || known->second);
}

void Generators::walk_instead() {
  if (walk_.speculative || walk_.running.walkable.empty() ||
      !speculation_.control.walked.emplace(walk_.running.walkable, true).second)
    return;
  speculation_.forget_numbering();
  throw Restart{};
}

void Generators::stop_walking() {
  std::vector<const Frame*> frames = walk_.frames_before();
  if (walk_.speculative || frames.empty() || !frames.back()->before_call) return;
  std::vector<const Frame*> at_call;
  for (const Frame& frame : frames.back()->before_call->frames) at_call.push_back(&frame);
  auto [known, fresh] = speculation_.control.walked.try_emplace(place_of(at_call), false);
  if (!fresh && !std::exchange(known->second, false)) return;  // the frame is that of a generator function
  speculation_.forget_numbering();
  throw Restart{};
}

const OpcodeTable& generator_ops() {
  static const OpcodeTable table = {
      {Opcode::return_generator, return_generator},
      {Opcode::yield_value, yield_value},
  };
  return table;
}

}  // namespace accel
