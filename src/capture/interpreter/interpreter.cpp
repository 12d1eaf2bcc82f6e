#include "capture/interpreter/interpreter.h"

#include "capture/context/descent.h"
#include "capture/domain/repr.h"
#include "capture/interpreter/opcodes/table.h"

namespace accel {

InterpreterPart::InterpreterPart(Interpreter& interpreter)
    : interpreter_(interpreter),
      capture_(interpreter.capture()),
      speculation_(interpreter.capture().speculation()),
      walk_(interpreter.walk()) {}

Interpreter::Interpreter(Capture& capture, const WalkOptions& options)
    : capture_(capture),
      options_(options),
      null_(std::make_shared<AbstractValue>()),
      budget_(*this),
      frames_(*this),
      calls_(*this),
      generators_(*this),
      explorer_(*this),
      merger_(*this),
      exits_(*this),
      planner_(*this),
      interrupts_(*this),
      call_sites_(*this) {
  capture.attach(this);
}

Result<Ref> Interpreter::call_now(const Ref& callable, const CallArguments& arguments) {
  size_t base = walk_.frames.size();
  ACCEL_TRY(std::optional<Ref> result, calls_.begin(callable, arguments));
  if (result) return *result;
  walk_.frames.back()->nested = true;
  if (Status done = run_nested(base); !done.ok()) return done.failure();
  return std::move(walk_.nested_result.value);
}

Status Interpreter::run_nested(size_t base) {
  ++walk_.nesting;
  EventState events = capture_.events().state();
  Status done = run_down_to(base);
  capture_.events().set_state(events);
  --walk_.nesting;
  if (!done.ok()) walk_.frames.resize(base);
  return done;
}

Status Interpreter::run_down_to(size_t base) {
  while (walk_.frames.size() > base) {
    ACCEL_TRY([[maybe_unused]] Unit in_time, budget_.check_time());
    if (budget_.is_exceeded()) return budget_.failure();
    ++walk_.count;
    Status done = step(*walk_.frames.back());
    if (!done.ok() && !frames_.unwind(done.failure(), base)) return done.failure();
  }
  return Unit{};
}

void Interpreter::set_location(const Frame& frame, const Instruction& instruction) {
  bool has_line = !frame.in_library && instruction.line > 0;
  if (has_line) capture_.set_location(frame.file, instruction.line);
  capture_.events().set_place({frame.bytecode().code, frame.globals, instruction.line});
}

Status Interpreter::step(Frame& frame) {
  const Instruction& instruction = frame.bytecode().instructions[static_cast<size_t>(frame.next)];
  set_location(frame, instruction);
  frame.previous = frame.next++;
  OpcodeHandler handler = opcode_handler(instruction.op);
  if (handler == nullptr) return fail(Reason::unsupported_opcode, opcode_name(instruction.op));
  Step step{*this, capture_, frame, instruction};
  Status done = options_.trace ? traced(step) : handler(step);
  if (done.ok()) interrupts_.note_reading();
  return done;
}

// Runs an instruction and appends a line to the trace, indented by call depth: file and line, instruction, and the nodes that
// it adds to the graph or the reason of its failure. The frame may be popped by it.
Status Interpreter::traced(Step& step) {
  const Instruction& instruction = step.instruction;
  std::string line =
      "\n" + std::string(2 * walk_.frames.size(), ' ') + step.frame.file + ":" + std::to_string(instruction.line);
  line += std::string(" ") + opcode_name(instruction.op);
  if (instruction.object != nullptr && PyUnicode_Check(instruction.object)) line += " " + utf8(instruction.object);
  const size_t before = capture_.graph().nodes.size();
  Status done = opcode_handler(instruction.op)(step);
  const std::vector<Node>& nodes = capture_.graph().nodes;
  for (size_t n = before; n < nodes.size(); ++n) line += (n == before ? " -> " : ", ") + std::string(op_info(nodes[n].op).name);
  if (!done.ok()) line += std::string(" -> ") + reason_info(done.failure().reason).code + ": " + done.failure().detail;
  trace_ += line;
  return done;
}

Status Interpreter::try_step(Frame& frame) {
  const Descent::Instruction instruction;
  try {
    return step(frame);
  } catch (const InstructionBailout& bailout) {
    walk_.nesting = 0;
    return bailout.why;
  }
}

bool Interpreter::may_fork_on_sizes() const {
  if (walk_.nesting > 0 || walk_.frames.empty() || walk_.frames.back()->in_library) return false;
  for (const auto& frame : walk_.frames) {
    if (!frame->flow().headers_around(frame->next).empty()) return true;
  }
  return false;
}

}  // namespace accel
