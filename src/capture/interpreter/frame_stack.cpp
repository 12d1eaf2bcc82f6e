#include "capture/interpreter/frame_stack.h"

#include <algorithm>

#include "capture/domain/repr.h"
#include "capture/interpreter/interpreter.h"
#include "cpython/imported.h"

namespace accel {

namespace {

constexpr size_t deepest = 60;        // inlined frames
constexpr int deepest_recursion = 6;  // frames of one code object

}  // namespace

bool is_library_file(const std::string& file) {
  static const std::string folder = [] {
    PyRef name = imported_attribute("numpy", "__file__");
    std::string path = name ? utf8(name.get()) : std::string("?");
    return path.substr(0, path.rfind('/') + 1);
  }();
  return file.compare(0, folder.size(), folder) == 0;
}

Result<std::shared_ptr<const FunctionCode>> FrameStack::code_of(PyObject* code) {
  auto [it, fresh] = codes_.try_emplace(code);
  if (fresh) {
    ACCEL_TRY(Bytecode decoded, decode(reinterpret_cast<PyCodeObject*>(code)));
    CodeFlow flow(decoded);
    it->second = std::make_shared<const FunctionCode>(FunctionCode{std::move(decoded), std::move(flow)});
  }
  if (!it->second) return fail(Reason::unsupported_opcode, "the function cannot be decoded");
  return it->second;
}

Status FrameStack::enter(PyObject* function, PyObject* const* locals, int local_count) {
  Ref self = capture_.values().constant(function);
  PythonFunction parts = interpreter_.calls().constant_function(self);
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
  walk_.frames.push_back(std::move(frame));
  for (const Ref& value : capture_.resolver().seen_early()) capture_.resolver().look_deep(value);
  return Unit{};
}

Status FrameStack::check_depth(PyObject* code) const {
  auto same = [&](const std::unique_ptr<Frame>& frame) { return frame->bytecode().code.get() == code; };
  auto last = std::find_if(walk_.frames.rbegin(), walk_.frames.rend(), same);
  bool decides = last != walk_.frames.rend() && !(*last)->in_library && (*last)->decisions_before != decisions();
  bool deep =
      std::count_if(walk_.frames.begin(), walk_.frames.end(), same) >= deepest_recursion || walk_.frames.size() >= deepest;
  if (!decides && !deep) return Unit{};
  return fail(Reason::unsupported_call, "recursion of " + utf8(reinterpret_cast<PyCodeObject*>(code)->co_name));
}

int64_t FrameStack::decisions() const { return walk_.forks + capture_.ranges().decided_by_guards(); }

Result<std::unique_ptr<Frame>> FrameStack::make_frame(PythonFunction function) {
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
  frame->forks_before = walk_.forks;
  frame->decisions_before = decisions();
  return frame;
}

Status FrameStack::push(PythonFunction function, const CallArguments& arguments) {
  ACCEL_TRY(std::vector<Ref> locals, bind_call(capture_, function, arguments));
  ACCEL_TRY(std::unique_ptr<Frame> frame, make_frame(std::move(function)));
  frame->locals = std::move(locals);
  if ((frame->code()->co_flags & CO_GENERATOR) != 0)
    frame->before_call = std::make_shared<const PathState>(walk_.save_before(capture_));
  walk_.frames.push_back(std::move(frame));
  return Unit{};
}

Status FrameStack::leave(Ref result) {
  bool nested = walk_.frames.back()->nested, consumed = walk_.frames.back()->is_consumed();
  bool forked = walk_.forks > walk_.frames.back()->forks_before;
  if (const Ref& generator = walk_.frames.back()->generator) generator->items.clear();
  walk_.frames.pop_back();
  if (nested) {
    walk_.nested_result = {std::move(result), NestedResult::End::returned};
  } else if (consumed) {
    interpreter_.generators().end_consumer();
  } else if (walk_.frames.empty()) {
    walk_.result = std::move(result);
  } else {
    walk_.frames.back()->push(std::move(result));
    walk_.approach = forked && walk_.nesting == 0 ? Approach::returns : Approach::step;
  }
  return Unit{};
}

}  // namespace accel
