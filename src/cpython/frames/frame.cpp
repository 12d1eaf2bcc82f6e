#include "cpython/frames/frame.h"

#include <span>
#include <utility>

#include "cpython/bytecode/bytecode.h"
#include "cpython/bytecode/code_tables.h"
#include "cpython/frames/frame_entry.h"
#include "cpython/function.h"

namespace accel {

namespace {

// --- writing the state into a frame -------------------------------------------------------------------------------------

bool refuse(const char* why) {
  PyErr_Format(PyExc_SystemError, "accel: a frame cannot be handed over: %s", why);
  return false;
}

PyFunctionObject* function_in(const FrameState& state) { return reinterpret_cast<PyFunctionObject*>(state.function.get()); }

PyCodeObject* code_in(const FrameState& state) {
  return state.code ? reinterpret_cast<PyCodeObject*>(state.code.get()) : function_code(function_in(state));
}

// Sets SystemError when the state does not describe a frame that can be built.
bool check_state(const FrameState& state) {
  if (!state.function || !PyFunction_Check(state.function.get())) return refuse("it has no function");
  PyCodeObject* code = code_in(state);
  if (!can_hand_over(code)) return refuse("it is a generator's, or its locals are a dict");
  if (static_cast<int>(state.locals.size()) != local_count(code)) return refuse("the number of locals is wrong");
  if (static_cast<int>(state.stack.size()) > stack_size(code)) return refuse("the stack is too high");
  return true;
}

// A frame runs the code that its function has when it is made, so a function that has other code by now is stood in for.
PyObject* enter_frame_of(const FrameState& state, EntryBody body, void* context) {
  PyRef function = PyRef::steal(function_with_code(function_in(state), code_in(state)));
  return function ? enter_frame(reinterpret_cast<PyFunctionObject*>(function.get()), body, context) : nullptr;
}

#if PY_VERSION_HEX >= 0x030E0000
void borrow_slots(InterpreterFrame* frame, const FrameState& state) {
  for (int number : state.borrowed) {
    Slot& slot = frame->localsplus[number];
    PyObject* object = slot_object(slot);
    if (object == nullptr || Py_REFCNT(object) == 1) continue;
    release_slot(std::exchange(slot, borrowing_slot(object)));
  }
}
#else
void borrow_slots(InterpreterFrame*, const FrameState&) {}
#endif

// Gives the frame the state's references and returns the depth of the stack.
int move_into(InterpreterFrame* frame, FrameState& state) {
  for (size_t i = 0; i < state.locals.size(); ++i) {
    release_slot(std::exchange(frame->localsplus[i], slot_of(state.locals[i].release())));
  }
  Slot* base = stack_base(frame);
  for (size_t i = 0; i < state.stack.size(); ++i) base[i] = slot_of(state.stack[i].release());
  borrow_slots(frame, state);
  return static_cast<int>(state.stack.size());
}

// --- going on -----------------------------------------------------------------------------------------------------------

PyObject* resume_at(PyThreadState* thread, InterpreterFrame* frame, int offset, int depth) {
  set_next(frame, offset);
  set_depth(frame, depth);
  return evaluate(thread, frame, false);
}

#if PY_VERSION_HEX >= 0x030D0000

bool same_handler(const ExceptionRange* a, const ExceptionRange* b) {
  if (!a || !b) return a == b;
  return a->target == b->target && a->depth == b->depth && a->push_lasti == b->push_lasti;
}

void add_traceback(PyThreadState* thread, InterpreterFrame* frame) {
  PyObject* raised = PyErr_GetRaisedException();
  link_frame(thread, frame);
  PyFrameObject* object = PyThreadState_GetFrame(thread);
  PyErr_SetRaisedException(raised);
  if (object) PyTraceBack_Here(object);
  unlink_frame(thread, frame);
  Py_XDECREF(object);
}

void cut_stack(InterpreterFrame* frame, int from, int to) {
  for (Slot* base = stack_base(frame); from > to;) {
    set_depth(frame, --from);
    release_slot(base[from]);
  }
}

// What the evaluator does with an exception, for offsets at which it would find the handler of the previous instruction: 3.13
// looks the handler up one code unit before the offset that it reports.
PyObject* raise_by_hand(PyThreadState* thread, InterpreterFrame* frame, int unit, int depth, const ExceptionRange* range) {
  add_traceback(thread, frame);
  cut_stack(frame, depth, range ? range->depth : 0);
  if (!range) {
    _PyEval_FrameClearAndPop(thread, frame);
    return nullptr;
  }
  depth = range->depth;
  Slot* base = stack_base(frame);
  PyObject* raised = PyErr_GetRaisedException();
  if (range->push_lasti) base[depth++] = slot_of_unit(unit);
  base[depth++] = slot_of(raised);
  return resume_at(thread, frame, range->target, depth);
}

PyObject* raise_at(PyThreadState* thread, InterpreterFrame* frame, int unit, int depth) {
  set_executing(frame, unit);
  set_depth(frame, depth);
  std::vector<ExceptionRange> ranges = exception_ranges(frame_code(frame));
  const ExceptionRange* range = find_range(ranges, unit);
  if (same_handler(range, find_range(ranges, unit - 1))) return evaluate(thread, frame, true);
  return raise_by_hand(thread, frame, unit, depth, range);
}

#else

PyObject* raise_at(PyThreadState* thread, InterpreterFrame* frame, int unit, int depth) {
  set_executing(frame, unit);
  set_depth(frame, depth);
  return evaluate(thread, frame, true);
}

#endif

// --- nested frames ------------------------------------------------------------------------------------------------------

struct Rest {
  std::span<FrameState> states;  // outermost first; the first is the frame to make
  bool raise;
};

PyObject* run_rest(Rest rest);

// The frame waits at its call while the frames after it run.
PyObject* wait_for_callee(PyThreadState* thread, InterpreterFrame* frame, Rest rest, int depth) {
  const FrameState& state = rest.states[0];
  int call = fault_offset_at(frame_code(frame), state.call_offset);
  set_executing(frame, call);
  set_depth(frame, depth);
  link_frame(thread, frame);
  --python_recursion_left(thread);
  PyObject* result = run_rest({rest.states.subspan(1), rest.raise});
  ++python_recursion_left(thread);
  unlink_frame(thread, frame);
  if (!result) return raise_at(thread, frame, call, depth);
  stack_base(frame)[depth] = slot_of(result);
  return resume_at(thread, frame, state.offset, depth + 1);
}

PyObject* continue_rest(PyThreadState* thread, InterpreterFrame* frame, void* context) {
  Rest rest = *static_cast<Rest*>(context);
  FrameState& state = rest.states[0];
  int depth = move_into(frame, state);
  if (rest.states.size() > 1) return wait_for_callee(thread, frame, rest, depth);
  if (!rest.raise) return resume_at(thread, frame, state.offset, depth);
  return raise_at(thread, frame, fault_offset_at(frame_code(frame), state.offset), depth);
}

PyObject* run_rest(Rest rest) { return enter_frame_of(rest.states[0], continue_rest, &rest); }

}  // namespace

PyObject* resume_frames(std::vector<FrameState>&& outermost_first, bool raise) {
  std::vector<FrameState> states = std::move(outermost_first);
  for (const FrameState& state : states)
    if (!check_state(state)) return nullptr;
  if (states.empty()) return refuse("there is none"), nullptr;
  return run_rest({states, raise});
}

PyObject* resume_frame(FrameState&& state) {
  FrameState owned = std::move(state);
  return check_state(owned) ? run_rest({{&owned, 1}, false}) : nullptr;
}

PyObject* raise_in_frame(FrameState&& state) {
  FrameState owned = std::move(state);
  return check_state(owned) ? run_rest({{&owned, 1}, true}) : nullptr;
}

// --- calls under frames -------------------------------------------------------------------------------------------------

namespace {

// The frames that are shown, outermost first.
struct Shown {
  std::span<FrameState> states;
  FramedCall& call;
  std::vector<InterpreterFrame*> frames;
  std::vector<std::vector<PyObject*>> locals;  // of the frames, borrowed
};

// Whether nothing else refers to the frame, and its variables are unchanged.
bool is_untouched(InterpreterFrame* frame, const std::vector<PyObject*>& locals) {
  if (frame->frame_obj != nullptr && Py_REFCNT(frame->frame_obj) > 1) return false;
  for (size_t i = 0; i < locals.size(); ++i)
    if (slot_object(frame->localsplus[i]) != locals[i]) return false;
  return true;
}

bool are_untouched(const Shown& shown) {
  for (size_t i = 0; i < shown.frames.size(); ++i)
    if (!is_untouched(shown.frames[i], shown.locals[i])) return false;
  return true;
}

void copy_back(InterpreterFrame* frame, FrameState& state) {
  for (size_t i = 0; i < state.locals.size(); ++i) state.locals[i] = PyRef::borrow(slot_object(frame->localsplus[i]));
  Slot* base = stack_base(frame);
  for (size_t i = 0; i < state.stack.size(); ++i) state.stack[i] = PyRef::borrow(slot_object(base[i]));
}

// Drops a frame that is no longer linked. On 3.11 the maker of the frame does that; 3.12 has no function for it except the
// evaluator's own return.
PyObject* end_frame([[maybe_unused]] PyThreadState* thread, InterpreterFrame* frame, [[maybe_unused]] const FrameState& state,
                    int depth) {
  for (Slot* base = stack_base(frame); depth > 0;) {
    set_depth(frame, --depth);
    release_slot(base[depth]);
  }
#if PY_VERSION_HEX >= 0x030D0000
  _PyEval_FrameClearAndPop(thread, frame);
  return Py_NewRef(Py_None);
#elif PY_VERSION_HEX >= 0x030C0000
  stack_base(frame)[0] = Py_NewRef(Py_None);
  return resume_at(thread, frame, state.return_offset, 1);
#else
  return Py_NewRef(Py_None);
#endif
}

PyObject* drop_after_error(PyThreadState* thread, InterpreterFrame* frame, const FrameState& state, int depth) {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  Py_XDECREF(end_frame(thread, frame, state, depth));
  PyErr_Restore(type, value, traceback);
  return nullptr;
}

// Keeps the current exception.
void release_for_frames(Shown& shown) {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  if (shown.call.release != nullptr) shown.call.release(shown.call.context);
  PyErr_Restore(type, value, traceback);
}

PyObject* make_call(Shown& shown) {
  PyObject* result = nullptr;
  FramedCall& call = shown.call;
  call.was_made = true;
  call.shown = &shown;
  call.after = call.act(call.context, &result);
  call.shown = nullptr;
  if (call.after == AfterCall::go_on && !are_untouched(shown)) call.after = AfterCall::leave;
  if (call.after != AfterCall::go_on) return release_for_frames(shown), result;
  for (size_t i = 0; i < shown.frames.size(); ++i) copy_back(shown.frames[i], shown.states[i]);
  call.result = PyRef::steal(result);
  return Py_NewRef(Py_None);
}

PyObject* show_next(Shown& shown);

PyObject* show_frame(PyThreadState* thread, InterpreterFrame* frame, void* context) {
  Shown& shown = *static_cast<Shown*>(context);
  FrameState& state = shown.states[shown.frames.size()];
  shown.frames.push_back(frame);
  int depth = move_into(frame, state);
  std::vector<PyObject*>& locals = shown.locals.emplace_back();
  for (size_t i = 0; i < state.locals.size(); ++i) locals.push_back(slot_object(frame->localsplus[i]));
  int at = fault_offset_at(frame_code(frame), state.call_offset);
  set_executing(frame, at);
  set_depth(frame, depth);
  link_frame(thread, frame);
  --python_recursion_left(thread);
  PyObject* result = shown.frames.size() < shown.states.size() ? show_next(shown) : make_call(shown);
  ++python_recursion_left(thread);
  unlink_frame(thread, frame);
  if (!shown.call.was_made) return drop_after_error(thread, frame, state, depth);
  if (shown.call.after == AfterCall::go_on) {
    Py_DECREF(result);
    return end_frame(thread, frame, state, depth);
  }
  if (result == nullptr) return raise_at(thread, frame, at, depth);
  stack_base(frame)[depth] = slot_of(result);
  return resume_at(thread, frame, state.offset, depth + 1);
}

PyObject* show_next(Shown& shown) { return enter_frame_of(shown.states[shown.frames.size()], show_frame, &shown); }

}  // namespace

bool frames_are_untouched(const FramedCall& call) {
  return call.shown != nullptr && are_untouched(*static_cast<const Shown*>(call.shown));
}

PyObject* call_under_frames(std::vector<FrameState>& outermost_first, FramedCall& call) {
  for (const FrameState& state : outermost_first)
    if (!check_state(state)) return nullptr;
  if (outermost_first.empty()) return refuse("there is none"), nullptr;
  Shown shown{outermost_first, call, {}, {}};
  PyObject* result = show_next(shown);
  if (!call.was_made || call.after != AfterCall::go_on) return result;
  Py_XDECREF(result);
  return nullptr;
}

// --- open frames --------------------------------------------------------------------------------------------------------

struct FrameEntry {
  FrameBody body;
  void* context;

  static PyObject* run(PyThreadState*, InterpreterFrame* frame, void* entry) {
    OpenFrame open(frame);
    auto* self = static_cast<FrameEntry*>(entry);
    return self->body(open, self->context);
  }
};

PyObject* with_open_frame(PyFunctionObject* function, FrameBody body, void* context) {
  if (!can_hand_over(function_code(function))) return refuse("it is a generator's, or its locals are a dict"), nullptr;
  FrameEntry entry{body, context};
  return enter_frame(function, FrameEntry::run, &entry);
}

void OpenFrame::show(const FrameState& state) {
  auto frame = static_cast<InterpreterFrame*>(frame_);
  PyThreadState* thread = PyThreadState_Get();
  for (size_t i = 0; i < state.locals.size(); ++i) {
    release_slot(std::exchange(frame->localsplus[i], slot_of(state.locals[i].new_reference())));
  }
  Slot* base = stack_base(frame);
  for (size_t i = 0; i < state.stack.size(); ++i) base[i] = slot_of(state.stack[i].new_reference());
  set_executing(frame, fault_offset_at(frame_code(frame), state.offset));
  set_depth(frame, static_cast<int>(state.stack.size()));
  link_frame(thread, frame);
  --python_recursion_left(thread);
}

void OpenFrame::hide() {
  auto frame = static_cast<InterpreterFrame*>(frame_);
  PyThreadState* thread = PyThreadState_Get();
  unlink_frame(thread, frame);
  ++python_recursion_left(thread);
  int end = slots_in_use(frame), locals = frame_code(frame)->co_nlocalsplus;
  set_depth(frame, 0);
  for (int i = 0; i < end; ++i) {
    const Slot old = frame->localsplus[i];
    if (i < locals) frame->localsplus[i] = slot_of(nullptr);
    release_slot(old);
  }
}

PyObject* OpenFrame::resume(FrameState&& state) {
  auto frame = static_cast<InterpreterFrame*>(frame_);
  int depth = move_into(frame, state);
  return resume_at(PyThreadState_Get(), frame, state.offset, depth);
}

PyObject* OpenFrame::raise(FrameState&& state) {
  auto frame = static_cast<InterpreterFrame*>(frame_);
  int depth = move_into(frame, state);
  return raise_at(PyThreadState_Get(), frame, fault_offset_at(frame_code(frame), state.offset), depth);
}

}  // namespace accel
