#include "dispatch/calls/python_calls.h"

#include "cpython/function.h"
#include "cpython/weak_references.h"
#include "dispatch/calls/observed_results.h"
#include "dispatch/exits/python_objects.h"
#include "dispatch/exits/resume.h"
#include "ndarray/array.h"

namespace accel {
namespace {

// False for objects whose identity means nothing: integers and truth values may be shared.
bool has_own_identity(PyObject* object) { return object != Py_None && !PyLong_Check(object); }

}  // namespace

// The reference count of an object, and the memory layout of an array, compared before and after a call.
struct PythonCalls::ObjectState {
  Py_ssize_t holders = 0;
  bool has_weak_references = false;
  const void *descr = nullptr, *data = nullptr;
  std::vector<intptr_t> layout;
  bool writeable = false;
  bool operator==(const ObjectState&) const = default;

  explicit ObjectState(PyObject* object) : holders(Py_REFCNT(object)) {
    if (!is_exact_array(object)) return;
    has_weak_references = has_weak_reference(object);
    ArrayFacts facts = array_facts(object);
    descr = facts.descr, data = facts.data, writeable = facts.writeable;
    layout.assign(facts.dims, facts.dims + facts.ndim);
    layout.insert(layout.end(), facts.strides, facts.strides + facts.ndim);
  }
};

LeftCall::~LeftCall() {
  Py_XDECREF(answer_);
  for (PyObject* part : exception_) Py_XDECREF(part);
}

void LeftCall::end(PyObject* answer) {
  has_ended_ = true;
  answer_ = answer;
  if (answer == nullptr) PyErr_Fetch(&exception_[0], &exception_[1], &exception_[2]);
}

PyObject* LeftCall::take_answer() {
  auto part = [&](int k) { return std::exchange(exception_[k], nullptr); };
  if (answer_ == nullptr) PyErr_Restore(part(0), part(1), part(2));
  return std::exchange(answer_, nullptr);
}

PythonCalls::PythonCalls(const CheckedRun& run) : run_(run), modes_(event_modes()) { hold_sources(); }

void PythonCalls::hold_sources() {
  for (SourceId source : run_.captured->guards.wanted) held_.push_back(PyRef::borrow(run_.binding.sources[source]));
}

PythonCalls::Made PythonCalls::call(int number, const std::vector<CallOperandValue>& operands) {
  const size_t index = static_cast<size_t>(number);
  if (!objects_.make(run_.captured->calls[index], *(*run_.plans)[index], operands, run_.binding, shown_)) return Made::failed;
  std::vector<FrameState> frames = objects_.frames();
  FramedCall framed{act, this, release_all, false, AfterCall::go_on, {}, nullptr};
  framed_ = &framed;
  PyObject* answer = call_under_frames(frames, framed);
  framed_ = nullptr;
  if (!framed.was_made) {
    objects_.release();
    return Made::failed;
  }
  last_ = number;
  count_++;
  if (framed.after != AfterCall::go_on) {
    if (framed.after == AfterCall::leave && left_.detail().empty())
      left_.because(Reason::assumption_failed, "somebody holds the frame");
    left_.end(answer);
    return Made::left;
  }
  take_results(framed.result.get());
  objects_.forget_kept();
  frames.back().stack.push_back(std::move(framed.result));
  frames_ = std::move(frames);
  return Made::done;
}

// Collects the results of the call, in the order of the op's results.
void PythonCalls::take_results(PyObject* result) {
  const PythonCall& call = objects_.site();
  hold_sources();
  for (const auto& [number, object] : objects_.named()) shown_.emplace(number, PyRef::borrow(object));
  auto number = [&](PyObject* object) {
    shown_.emplace(next_shown_, PyRef::borrow(object));
    results_.push_back(PyRef::steal(PyLong_FromLongLong(next_shown_++)));
  };
  for (RecipeId id : call.shown) number(objects_.seen(id));
  if (call.result == ResultKind::number || call.result == ResultKind::object) number(result);
  for (RecipeId id : call.changed) results_.push_back(PyRef::borrow(objects_.seen(id)));
  results_.push_back(PyRef::borrow(result));
}

void PythonCalls::release() {
  release_held();
  forget();
}

void PythonCalls::release_held() {
  frames_.clear();
  results_.clear();
  shown_.clear();
  held_.clear();
}

void PythonCalls::forget() {
  replaced_.clear();
  objects_.forget_kept();
}

// Called when the interpreter runs the frames to their end, so that the run does not continue.
void PythonCalls::release_all(void* self) { static_cast<PythonCalls*>(self)->release(); }

AfterCall PythonCalls::act(void* self, PyObject** result) { return static_cast<PythonCalls*>(self)->make(result); }

// Leaves compiled code: the interpreter runs the frames, which must be the only owners of their objects.
AfterCall PythonCalls::leave(std::string detail) {
  forget();
  left_.because(Reason::assumption_failed, std::move(detail));
  return AfterCall::leave;
}

// An exception is set.
AfterCall PythonCalls::raise_in_frame(std::string detail) {
  forget();
  left_.because(Reason::will_raise, std::move(detail));
  return AfterCall::raise;
}

AfterCall PythonCalls::make(PyObject** result) {
  const PythonCall& call = objects_.site();
  note_replaced(call.stores, objects_.made(), replaced_);
  const bool has_stored = perform(call.stores, objects_.made());
  GivenObjects given = objects_.give();
  release_held();
  objects_.hand_over();
  if (!has_stored) {
    *result = nullptr;
    return raise_in_frame("a store before the call raised");
  }
  std::vector<PyObject*> arguments;
  for (const PyRef& argument : given.arguments) arguments.push_back(argument.get());
  for (int borrowed : call.borrowed) {
    PyRef& argument = given.arguments[static_cast<size_t>(borrowed)];
    if (Py_REFCNT(argument.get()) > 1) argument = PyRef();
  }
  std::vector<ObjectState> before;
  for (RecipeId id : call.watched) before.emplace_back(objects_.seen(id));
  PyObject* keywords = objects_.call().keywords.get();
  size_t named = keywords != nullptr ? static_cast<size_t>(PyTuple_GET_SIZE(keywords)) : 0;
  *result = PyObject_Vectorcall(given.callable.get(), arguments.data(), arguments.size() - named, keywords);
  if (*result == nullptr) return raise_in_frame("the call raised");
  // The next instruction discards the result.
  if (call.result == ResultKind::ignored) Py_SETREF(*result, Py_NewRef(Py_None));
  const AfterCall after = judge(*result, before);
  if (after == AfterCall::go_on) objects_.keep_results();
  return after;
}

AfterCall PythonCalls::judge(PyObject* result, const std::vector<ObjectState>& before) {
  const PythonCall& call = objects_.site();
  // When variables of a frame have changed, objects that seen() refers to may be freed.
  if (!frames_are_untouched(*framed_)) return leave("somebody holds the frame");
  const bool as_assumed = is_as_assumed(result);
  for (size_t k = 0; k < before.size(); k++) {
    PyObject* object = objects_.seen(call.watched[k]);
    ObjectState now(object);
    now.holders -= object == result;
    if (before[k] == now) continue;
    return leave("the callee keeps an argument, or has changed its layout");
  }
  if (!objects_.are_stores_there() || !still_holds()) return leave("the call changed what was assumed");
  if (!as_assumed) return leave("the call gave an object of another type");
  return AfterCall::go_on;
}

bool PythonCalls::is_as_assumed(PyObject* result) {
  const PythonCall& call = objects_.site();
  switch (call.result) {
    case ResultKind::unknown:
      break;
    case ResultKind::ignored:
      return true;
    case ResultKind::none:
      if (result == Py_None) return true;
      break;
    case ResultKind::argument:
      if (result == objects_.candidate(call.argument)) return true;
      break;
    case ResultKind::number:
      if (is_number_of(result, objects_.call().results.back())) return true;
      break;
    case ResultKind::array:
      if (is_array_of(result, objects_.call().results.back())) return true;
      break;
    case ResultKind::object:
      if (Py_IS_TYPE(result, reinterpret_cast<PyTypeObject*>(call.object_type.get()))) return true;
      break;
  }
  note_unknown(result);
  return false;
}

void PythonCalls::note_unknown(PyObject* result) {
  SeenResult seen = seen_result_of(result);
  for (int k = 0; has_own_identity(result) && k < static_cast<int>(objects_.site().candidates.size()); ++k)
    if (result == objects_.candidate(k)) seen = {ResultKind::argument, {}, k};
  left_.give(std::move(seen));
}

// Whether the guards hold as at the start of the run: for the same objects, sizes, memory and numbers.
bool PythonCalls::still_holds() {
  for (const FrameRecipe& frame : objects_.site().frames) {
    if (is_watched(reinterpret_cast<PyCodeObject*>(frame.code.get()))) return false;
  }
  EventModes modes = event_modes();
  if (modes.ignored != modes_.ignored || modes.warned != modes_.warned) return false;
  return holds_as_checked(run_, &replaced_);
}

PyObject* PythonCalls::go_back(bool raise) {
  std::vector<FrameState> frames = std::move(frames_);
  release();
  return resume_frames(std::move(frames), raise);
}

}  // namespace accel
