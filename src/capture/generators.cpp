// Generators: a frame that is kept in its abstract value while it is suspended. Items: the function, the locals, the stack.

#include "capture/interpreter.h"
#include "capture/ops.h"
#include "capture/semantics.h"

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
}

// Whether a generator that is dropped here would still run something: a finally or with around the yield.
bool has_cleanup(const Frame& frame, const Instruction& instruction) {
  if (instruction.handler < 0) return false;
  const Handler& handler = frame.bytecode().handlers[static_cast<size_t>(instruction.handler)];
  return frame.bytecode().instructions[static_cast<size_t>(handler.target)].op != Opcode::stopiteration_error;
}

Status return_generator(Step& step) {
  step.frame.push(step.capture.constant(Py_None));
  return Unit{};
}

Status yield_value(Step& step) {
  if (!step.frame.generator) return fail(Reason::generator, "the compiled function is a generator");
  if (has_cleanup(step.frame, step.instruction)) return fail(Reason::generator, "a yield in a try or with statement");
  return step.interpreter.yield(step.frame.pop());
}

}  // namespace

Ref make_generator(const Frame& frame, std::vector<Ref> locals) {
  Ref generator = std::make_shared<AbstractValue>();
  generator->kind = AbstractKind::generator;
  generator->items = {frame.function, kept(std::move(locals)), kept({})};
  return generator;
}

Status Interpreter::yield(Ref value) {
  Frame& frame = *frames_.back();
  frame.push(capture_.constant(Py_None));  // what next() sends
  suspend(frame.generator, frame);
  frames_.pop_back();
  nested_result_ = std::move(value);
  yielded_ = true;
  return Unit{};
}

Result<std::optional<Ref>> Interpreter::next_of_generator(const Ref& generator) {
  if (generator->items.empty()) return std::optional<Ref>();
  Ref function = generator->items[0];
  ACCEL_TRY(std::unique_ptr<Frame> frame,
            make_frame(function->kind == AbstractKind::function ? made_function(function) : constant_function(function)));
  frame->locals = generator->items[1]->items;
  frame->stack = generator->items[2]->items;
  frame->next = static_cast<int>(generator->position);
  frame->nested = true;
  frame->generator = generator;
  generator->items.clear();  // it is running, and has ended if it fails
  size_t base = frames_.size();
  frames_.push_back(std::move(frame));
  if (Status done = run_nested(base); !done.ok()) return done.failure();
  if (!yielded_) return std::optional<Ref>();
  return std::optional<Ref>(std::move(nested_result_));
}

Result<std::optional<Ref>> Capture::next_of_generator(const Ref& generator) {
  if (interpreter_ == nullptr) return fail(Reason::internal_error, "no interpreter");
  return interpreter_->next_of_generator(generator);
}

const OpcodeTable& generator_ops() {
  static const OpcodeTable table = {
      {Opcode::return_generator, return_generator},
      {Opcode::yield_value, yield_value},
  };
  return table;
}

}  // namespace accel
