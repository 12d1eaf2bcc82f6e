#include "capture/interpreter/interpreter.h"

#include <algorithm>

#include "capture/context/descent.h"
#include "capture/domain/repr.h"
#include "capture/interpreter/opcodes/table.h"
#include "cpython/imported.h"

namespace accel {

namespace {

constexpr size_t deepest = 60;        // inlined frames
constexpr int deepest_recursion = 6;  // of one code object

}  // namespace

bool is_library_file(const std::string& file) {
  static const std::string folder = [] {
    PyRef name = imported_attribute("numpy", "__file__");
    std::string path = name ? utf8(name.get()) : std::string("?");
    return path.substr(0, path.rfind('/') + 1);
  }();
  return file.compare(0, folder.size(), folder) == 0;
}

Interpreter::Interpreter(Capture& capture, SpeculationLog& speculation, WalkOptions options)
    : capture_(capture), speculation_(speculation), options_(options), null_(std::make_shared<AbstractValue>()) {
  capture.attach(this);
}

Result<std::shared_ptr<const FunctionCode>> Interpreter::code_of(PyObject* code) {
  auto [it, fresh] = codes_.try_emplace(code);
  if (fresh) {
    ACCEL_TRY(Bytecode decoded, decode(reinterpret_cast<PyCodeObject*>(code)));
    CodeFlow flow(decoded);
    it->second = std::make_shared<const FunctionCode>(FunctionCode{std::move(decoded), std::move(flow)});
  }
  if (!it->second) return fail(Reason::unsupported_opcode, "the function cannot be decoded");
  return it->second;
}

Status Interpreter::enter(PyObject* function, PyObject* const* locals, int local_count) {
  Ref self = capture_.values().constant(function);
  PythonFunction parts = constant_function(self);
  ACCEL_TRY(auto code, code_of(parts.code.get()));
  auto frame = std::make_unique<Frame>();
  frame->function = self;
  frame->code_of = std::move(code);
  frame->globals = parts.globals;
  frame->builtins = parts.builtins;
  frame->closure = parts.closure;
  frame->file = utf8(frame->code()->co_filename);
  frame->id = next_frame_id_++;
  PyRef names = PyRef::steal(PyCode_GetVarnames(frame->code()));
  for (int i = 0; i < local_count; ++i) {
    if (locals[i] == nullptr) {
      frame->locals.push_back(nullptr);
      continue;
    }
    bool named = i < PyTuple_GET_SIZE(names.get());
    std::string name = named ? utf8(PyTuple_GET_ITEM(names.get(), i)) : "local " + std::to_string(i);
    frame->locals.push_back(capture_.resolver().at(capture_.sources().local(i, name), locals[i]));
  }
  frame->locals.resize(static_cast<size_t>(frame->code()->co_nlocalsplus));
  frames_.push_back(std::move(frame));
  for (const Ref& value : capture_.resolver().seen_early()) look_at_data(value);
  return Unit{};
}

Status Interpreter::check_depth(PyObject* code) const {
  auto same = [&](const std::unique_ptr<Frame>& frame) { return frame->bytecode().code.get() == code; };
  auto last = std::find_if(frames_.rbegin(), frames_.rend(), same);
  bool decides = last != frames_.rend() && !(*last)->in_library && (*last)->decisions_before != decisions();
  bool deep = std::count_if(frames_.begin(), frames_.end(), same) >= deepest_recursion || frames_.size() >= deepest;
  if (!decides && !deep) return Unit{};
  return fail(Reason::unsupported_call, "recursion of " + utf8(reinterpret_cast<PyCodeObject*>(code)->co_name));
}

int64_t Interpreter::decisions() const { return forks_ + capture_.ranges().decided_by_guards(); }

Result<std::unique_ptr<Frame>> Interpreter::make_frame(PythonFunction function) {
  auto* code = reinterpret_cast<PyCodeObject*>(function.code.get());
  if ((code->co_flags & (CO_COROUTINE | CO_ASYNC_GENERATOR)) != 0) return fail(Reason::generator, utf8(code->co_name));
  ACCEL_TRY([[maybe_unused]] Unit shallow, check_depth(function.code.get()));
  ACCEL_TRY(auto decoded, code_of(function.code.get()));
  auto frame = std::make_unique<Frame>();
  frame->function = function.function;
  frame->code_of = std::move(decoded);
  frame->globals = std::move(function.globals);
  frame->builtins = std::move(function.builtins);
  frame->closure = std::move(function.closure);
  frame->file = utf8(code->co_filename);
  frame->in_library = is_library_file(frame->file);
  frame->id = next_frame_id_++;
  frame->forks_before = forks_;
  frame->decisions_before = decisions();
  return frame;
}

Result<std::optional<Ref>> Interpreter::push_frame(PythonFunction function, const CallArguments& arguments) {
  ACCEL_TRY(std::vector<Ref> locals, bind_call(capture_, function, arguments));
  ACCEL_TRY(std::unique_ptr<Frame> frame, make_frame(std::move(function)));
  frame->locals = std::move(locals);
  if ((frame->code()->co_flags & CO_GENERATOR) != 0) return std::optional<Ref>(make_generator(std::move(*frame)));
  frames_.push_back(std::move(frame));
  return std::optional<Ref>();
}

Status Interpreter::leave(Ref result) {
  bool nested = frames_.back()->nested, consumed = frames_.back()->is_consumed();
  bool parted = forks_ > frames_.back()->forks_before;
  if (const Ref& generator = frames_.back()->generator) generator->items.clear();
  yielded_ = false;
  frames_.pop_back();
  if (nested) {
    nested_result_ = std::move(result);
  } else if (consumed) {
    end_consumer();
  } else if (frames_.empty()) {
    result_ = std::move(result);
  } else {
    frames_.back()->push(std::move(result));
    returned_ = parted && nesting_ == 0;
  }
  return Unit{};
}

Result<Ref> Interpreter::call_now(const Ref& callable, const CallArguments& arguments) {
  size_t base = frames_.size();
  ACCEL_TRY(std::optional<Ref> result, begin_call(callable, arguments));
  if (result) return *result;
  frames_.back()->nested = true;
  if (Status done = run_nested(base); !done.ok()) return done.failure();
  return std::move(nested_result_);
}

Status Interpreter::run_nested(size_t base) {
  ++nesting_;
  EventState events = capture_.events().state();
  Status done = run_down_to(base);
  capture_.events().set_state(events);
  --nesting_;
  if (!done.ok()) frames_.resize(base);
  return done;
}

Status Interpreter::run_down_to(size_t base) {
  while (frames_.size() > base) {
    ACCEL_TRY([[maybe_unused]] Unit in_time, check_time());
    if (over_budget()) return budget_failure();
    ++count_;
    Status done = step(*frames_.back());
    if (!done.ok() && !unwind(done.failure(), base)) return done.failure();
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
  if (done.ok()) note_reading();
  return done;
}

// Adds a line to the trace, indented by depth of call: place, instruction, what it adds to the graph or why it fails. The frame
// may be gone afterwards.
Status Interpreter::traced(Step& step) {
  const Instruction& instruction = step.instruction;
  std::string line = "\n" + std::string(2 * frames_.size(), ' ') + step.frame.file + ":" + std::to_string(instruction.line);
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
    nesting_ = 0;
    return bailout.why;
  }
}

}  // namespace accel
