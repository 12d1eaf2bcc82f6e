#include "capture/interpreter.h"

#include <algorithm>

#include "capture/ops.h"
#include "capture/python_text.h"

namespace accel {

namespace {

constexpr size_t deepest = 60;        // inlined frames
constexpr int deepest_recursion = 6;  // of one code object

}  // namespace

bool is_library_file(const std::string& file) {
  static const std::string folder = [] {
    PyRef numpy = PyRef::steal(PyImport_ImportModule("numpy"));
    PyRef name = PyRef::steal(numpy ? PyObject_GetAttrString(numpy.get(), "__file__") : nullptr);
    if (!name) PyErr_Clear();
    std::string path = name ? utf8(name.get()) : std::string("?");
    return path.substr(0, path.rfind('/') + 1);
  }();
  return file.compare(0, folder.size(), folder) == 0;
}

Interpreter::Interpreter(Capture& capture, int budget, int node_budget)
    : capture_(capture), budget_(budget), node_budget_(node_budget), null_(std::make_shared<AbstractValue>()) {
  capture.attach(this);
}

Result<std::shared_ptr<const Bytecode>> Interpreter::bytecode_of(PyObject* code) {
  auto [it, fresh] = bytecodes_.try_emplace(code);
  if (fresh) {
    ACCEL_TRY(Bytecode decoded, decode(reinterpret_cast<PyCodeObject*>(code)));
    it->second = std::make_shared<const Bytecode>(std::move(decoded));
  }
  if (!it->second) return fail(Reason::unsupported_opcode, "the function cannot be decoded");
  return it->second;
}

Status Interpreter::enter(PyObject* function, PyObject* const* locals, int local_count) {
  Ref self = capture_.constant(function);
  PythonFunction parts = constant_function(self);
  ACCEL_TRY(auto bytecode, bytecode_of(parts.code.get()));
  auto frame = std::make_unique<Frame>();
  frame->function = self;
  frame->bytecode = std::move(bytecode);
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
    frame->locals.push_back(capture_.at(capture_.sources().local(i, name), locals[i]));
  }
  frame->locals.resize(static_cast<size_t>(frame->code()->co_nlocalsplus));
  frames_.push_back(std::move(frame));
  return Unit{};
}

Status Interpreter::check_depth(PyObject* code) const {
  auto same = [&](const std::unique_ptr<Frame>& frame) { return frame->bytecode->code.get() == code; };
  if (frames_.size() < deepest && std::count_if(frames_.begin(), frames_.end(), same) < deepest_recursion) return Unit{};
  return fail(Reason::unsupported_call, "recursion of " + utf8(reinterpret_cast<PyCodeObject*>(code)->co_name));
}

Status Interpreter::push_frame(PythonFunction function, const CallArguments& arguments) {
  auto* code = reinterpret_cast<PyCodeObject*>(function.code.get());
  if ((code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)) != 0) {
    return fail(Reason::generator, utf8(code->co_name));
  }
  ACCEL_TRY([[maybe_unused]] Unit shallow, check_depth(function.code.get()));
  ACCEL_TRY(auto bytecode, bytecode_of(function.code.get()));
  ACCEL_TRY(std::vector<Ref> locals, bind_call(capture_, function, arguments));
  auto frame = std::make_unique<Frame>();
  frame->function = function.function;
  frame->bytecode = std::move(bytecode);
  frame->globals = std::move(function.globals);
  frame->builtins = std::move(function.builtins);
  frame->closure = std::move(function.closure);
  frame->locals = std::move(locals);
  frame->file = utf8(code->co_filename);
  frame->in_library = is_library_file(frame->file);
  frame->id = next_frame_id_++;
  frames_.push_back(std::move(frame));
  return Unit{};
}

Status Interpreter::leave(Ref result) {
  bool nested = frames_.back()->nested;
  frames_.pop_back();
  if (nested) {
    nested_result_ = std::move(result);
  } else if (frames_.empty()) {
    result_ = std::move(result);
  } else {
    frames_.back()->push(std::move(result));
  }
  return Unit{};
}

Result<Ref> Interpreter::call_now(const Ref& callable, const CallArguments& arguments) {
  size_t base = frames_.size();
  ACCEL_TRY(std::optional<Ref> result, begin_call(callable, arguments));
  if (result) return *result;
  frames_.back()->nested = true;
  ++nesting_;
  Result<bool> done = run_frames(base, -1, false);
  --nesting_;
  if (!done.ok()) {
    frames_.resize(base);
    return done.failure();
  }
  return std::move(nested_result_);
}

void Interpreter::set_location(const Frame& frame, const Instruction& instruction) {
  if (!frame.in_library && instruction.line > 0) capture_.set_location(frame.file, instruction.line);
}

// Too long: the exit goes where the loop that takes most of it was met first.
Failure Interpreter::budget_failure() {
  int64_t most = 0;
  for (const auto& [key, loop] : loops_) {
    if (loop.second > most) {
      most = loop.second;
      position_ = loop.first;
    }
  }
  return fail(Reason::capture_budget, std::to_string(count_) + " instructions");
}

const std::vector<bool>& Interpreter::loop_headers(const Bytecode& bytecode) {
  auto [it, fresh] = headers_.try_emplace(&bytecode);
  if (!fresh) return it->second;
  it->second.resize(bytecode.instructions.size());
  for (size_t i = 0; i < bytecode.instructions.size(); ++i) {
    int target = bytecode.instructions[i].target;
    if (target >= 0 && static_cast<size_t>(target) <= i) it->second[static_cast<size_t>(target)] = true;
  }
  return it->second;
}

Status Interpreter::step(Frame& frame) {
  const Instruction& instruction = frame.bytecode->instructions[static_cast<size_t>(frame.next)];
  set_location(frame, instruction);
  ++frame.next;
  OpcodeHandler handler = opcode_handler(instruction.op);
  if (handler == nullptr) return fail(Reason::unsupported_opcode, opcode_name(instruction.op));
  Step step{*this, capture_, frame, instruction};
  return handler(step);
}

// True: the frames above `base` have returned. False: stopped.
Result<bool> Interpreter::run_frames(size_t base, int64_t stop, bool watch) {
  while (frames_.size() > base) {
    Frame& frame = *frames_.back();
    if (nesting_ == 0) {
      position_ = count_;
      if (watch) {
        RecipeWriter probe(capture_);
        if (write_frames(probe).ok()) {
          writable_ = position_;
          if (++writable_count_ == most_writable_) return false;
        }
      }
      if (count_ == stop) return false;
      if (loop_headers(*frame.bytecode)[static_cast<size_t>(frame.next)]) {
        auto header = loops_.try_emplace({frame.id, frame.next}, position_, 0).first;
        ++header->second.second;
      }
    }
    if (count_ >= budget_ || static_cast<int64_t>(capture_.graph().nodes.size()) > node_budget_) return budget_failure();
    ++count_;
    ACCEL_TRY([[maybe_unused]] Unit done, step(frame));
  }
  return true;
}

Interpreter::End Interpreter::run(int64_t stop, bool watch) {
  Result<bool> done = run_frames(0, stop, watch);
  if (done.ok()) return *done ? End::returned : End::stopped;
  failure_ = done.failure();
  return End::failed;
}

Location Interpreter::where() const {
  Location where;
  for (const auto& frame : frames_) {
    if (frame->in_library || frame->nested) break;
    size_t last = frame->bytecode->instructions.size() - 1;
    bool innermost = frame == frames_.back();
    size_t at = std::min(static_cast<size_t>(innermost ? frame->next : std::max(0, frame->next - 1)), last);
    int line = frame->bytecode->instructions[at].line;
    if (line <= 0) continue;
    capture_.set_location(frame->file, line);
    where = capture_.location();
  }
  return where;
}

Result<std::vector<FrameRecipe>> Interpreter::write_frames(RecipeWriter& writer) const {
  std::vector<FrameRecipe> recipes;
  for (const auto& frame : frames_) {
    const auto& instructions = frame->bytecode->instructions;
    const Instruction& next = instructions[static_cast<size_t>(frame->next)];
    if (!next.is_resume_point()) return fail(Reason::internal_error, "not a resume point");
    FrameRecipe recipe;
    ACCEL_TRY(recipe.function, writer.write(frame->function));
    recipe.offset = next.offset;
    if (frame != frames_.back()) recipe.call_offset = instructions[static_cast<size_t>(frame->next) - 1].fault_offset;
    for (const Ref& local : frame->locals) {
      ACCEL_TRY(RecipeId id, writer.write(local ? local : null_));
      recipe.locals.push_back(id);
    }
    for (const Ref& value : frame->stack) {
      ACCEL_TRY(RecipeId id, writer.write(value));
      recipe.stack.push_back(id);
    }
    recipes.push_back(std::move(recipe));
  }
  return recipes;
}

}  // namespace accel
