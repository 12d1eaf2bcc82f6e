// Generators: a frame that is kept in its abstract value while it is suspended. Items: the function, the locals, the stack.

#include "capture/interpreter/interpreter.h"
#include "capture/interpreter/opcodes/table.h"
#include "capture/protocol/operations.h"

namespace accel {

namespace {

Ref kept(std::vector<Ref> values) {
  Ref tuple = std::make_shared<AbstractValue>();
  tuple->kind = AbstractKind::tuple;
  tuple->items = std::move(values);
  return tuple;
}

void suspend(const Ref& generator, Frame& frame) {
  generator->items = {frame.function, kept(std::move(frame.locals)), kept(std::move(frame.stack))};
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
  generator->items.clear();  // it is running, and has ended if it fails
  return frame;
}

// Whether a generator that is dropped here would still run something: a finally or with around the yield.
bool has_cleanup(const Frame& frame, const Instruction& instruction) {
  if (instruction.handler < 0) return false;
  const Handler& handler = frame.bytecode().handlers[static_cast<size_t>(instruction.handler)];
  return frame.bytecode().instructions[static_cast<size_t>(handler.target)].op != Opcode::stopiteration_error;
}

Status return_generator(Step& step) {
  step.frame.push(step.capture.values().constant(Py_None));
  return Unit{};
}

Status yield_value(Step& step) {
  if (!step.frame.generator) return fail(Reason::generator, "the compiled function is a generator");
  if (has_cleanup(step.frame, step.instruction)) return fail(Reason::generator, "a yield in a try or with statement");
  return step.interpreter.yield(step.frame.pop());
}

}  // namespace

Ref make_generator(Frame frame) {
  Ref generator = std::make_shared<AbstractValue>();
  generator->kind = AbstractKind::generator;
  suspend(generator, frame);
  return generator;
}

Status Interpreter::yield(Ref value) {
  std::unique_ptr<Frame> frame = std::move(frames_.back());
  frames_.pop_back();
  frame->push(capture_.values().constant(Py_None));  // what next() sends
  forget_dead(*frame, false);
  Ref generator = frame->generator;
  bool nested = frame->nested;
  suspend(generator, *frame);
  if (!nested) {
    frames_.back()->push(std::move(value));
    return Unit{};
  }
  nested_result_ = std::move(value);
  yielded_ = true;
  return Unit{};
}

Result<std::optional<Ref>> Interpreter::next_of_generator(const Ref& generator) {
  if (generator->items.empty()) return std::optional<Ref>();
  ACCEL_TRY([[maybe_unused]] Unit shallow, check_depth(generator->suspended->bytecode().code.get()));
  size_t base = frames_.size();
  frames_.push_back(resumed(generator));
  frames_.back()->nested = true;
  if (Status done = run_nested(base); !done.ok()) return done.failure();
  if (!yielded_) return std::optional<Ref>();
  return std::optional<Ref>(std::move(nested_result_));
}

// A for loop over a generator whose code is walked: it is the consumer of a frame above, which yields to it or ends it.
Result<bool> Interpreter::consume(const Ref& iterator) {
  bool fresh = iterator->kind == AbstractKind::generator && !iterator->iterated && !iterator->items.empty();
  if (!fresh || !is_walked(place_name(frames_before()))) return false;
  ACCEL_TRY([[maybe_unused]] Unit shallow, check_depth(iterator->suspended->bytecode().code.get()));
  frames_.push_back(resumed(iterator));
  frames_.back()->nested = false;
  return true;
}

// The for loop that consumes the top frame, a generator's that has been left, is at its end.
void Interpreter::end_consumer() {
  Frame& frame = *frames_.back();
  frame.pop();
  frame.next = frame.bytecode().instructions[static_cast<size_t>(frame.next) - 1].target;
}

// Whether what consumes an iterable at this place is walked. Places that are not may be from the next attempt on.
bool Interpreter::is_walked(const std::string& place) {
  if (nesting_ > 0) return false;
  if (!frames_.empty() && frames_.back()->before_call) return true;
  auto known = speculation_.control.walked.find(place);
  if (known == speculation_.control.walked.end()) walkable_ = place;
  return known != speculation_.control.walked.end() && known->second;
}

bool Interpreter::may_walk(const std::string& place) const {
  auto known = speculation_.control.walked.find(place);
  return nesting_ == 0 && (known == speculation_.control.walked.end() || known->second);
}

// What could not be evaluated at capture may work when it is walked.
void Interpreter::walk_instead() {
  if (speculative_ || walkable_.empty() || !speculation_.control.walked.emplace(walkable_, true).second) return;
  speculation_.forget_numbering();
  throw Restart{};
}

// What fails in the Python form of a builtin itself, whatever the items are, is left at its call without a walk.
void Interpreter::stop_walking() {
  std::vector<const Frame*> frames = frames_before();
  if (speculative_ || frames.empty() || !frames.back()->before_call) return;
  std::vector<const Frame*> at_call;
  for (const Frame& frame : frames.back()->before_call->frames) at_call.push_back(&frame);
  speculation_.control.walked[place_name(at_call)] = false;
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
