#include "capture/context/context.h"

#include <algorithm>

#include "capture/domain/repr.h"

namespace accel {

namespace {

// Whether handlers of the exception may be walked at capture: false for those that depend on the state of the machine.
bool is_ordinary(PyObject* exception) {
  return PyObject_TypeCheck(exception, reinterpret_cast<PyTypeObject*>(PyExc_Exception)) &&
         !PyErr_GivenExceptionMatches(exception, PyExc_MemoryError) &&
         !PyErr_GivenExceptionMatches(exception, PyExc_RecursionError);
}

}  // namespace

Capture::Capture(Graph& graph, GuardSet& guards, SpeculationLog& speculation)
    : graph_(graph),
      guards_(guards),
      speculation_(speculation),
      builder_(graph),
      sources_(guards, speculation.given.changed_constants),
      changes_(speculation, sources_),
      resolver_(*this),
      values_(*this),
      memory_(*this),
      ranges_(*this),
      facts_(*this),
      constants_(*this),
      events_(*this) {}

void Capture::set_location(const std::string& file, int line) {
  if (file != file_ || where_.source < 0) {
    auto found = std::find(graph_.sources.begin(), graph_.sources.end(), file);
    where_.source = static_cast<int>(found - graph_.sources.begin());
    if (found == graph_.sources.end()) graph_.sources.push_back(file);
    file_ = file;
  }
  where_.line = line;
  builder_.set_location(where_);
}

void Capture::note(Reason reason, std::string detail) { notes_.push_back(Note{reason, std::move(detail), file_, where_.line}); }

bool Capture::in_library() const { return walker_ != nullptr && walker_->in_library(); }

bool Capture::in_loop() const { return walker_ != nullptr && walker_->in_loop(); }

std::vector<Ref> Capture::alive() const { return walker_ == nullptr ? std::vector<Ref>() : walker_->alive(); }

bool Capture::may_fork(Dim d) const {
  if (walker_ == nullptr) return false;
  return facts_.is_runtime(d) ? walker_->may_fork() : walker_->may_fork_on_sizes();
}

Status Capture::require(ValueId condition, Reason reason, std::string detail, bool is_deferrable) {
  if (walker_ == nullptr) return fail(Reason::data_dependent_branch, detail);
  return walker_->leave_unless(condition, reason, std::move(detail), is_deferrable);
}

Result<Ref> Capture::call_python(PyObject* function, const CallArguments& arguments) {
  return call(values().constant(function), arguments);
}

Result<Ref> Capture::call(const Ref& callable, const CallArguments& arguments) {
  if (walker_ == nullptr) return fail(Reason::internal_error, "no interpreter");
  ACCEL_TRY(Ref result, walker_->call_now(callable, arguments));
  if (result->kind == AbstractKind::select)
    return fail(Reason::data_dependent_branch, "the type of a result depends on run-time data");
  return result;
}

Result<std::optional<Ref>> Capture::next_of_generator(const Ref& generator) {
  if (walker_ == nullptr) return fail(Reason::internal_error, "no interpreter");
  return walker_->next_of_generator(generator);
}

Failure Capture::raised() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  PyRef owned_type = PyRef::steal(type), owned_traceback = PyRef::steal(traceback);
  return raised(PyRef::steal(value));
}

Failure Capture::raised(PyObject* type, const std::string& text) {
  return raised(PyRef::steal(PyObject_CallFunction(type, "s", text.c_str())));
}

Failure Capture::raised(PyRef exception) {
  if (!exception || !is_ordinary(exception.get())) {
    PyErr_Clear();
    return fail(Reason::will_raise, "Python raises here");
  }
  PyRef text = PyRef::steal(PyObject_Str(exception.get()));
  if (!text) PyErr_Clear();
  raised_.detail = type_name(exception.get()) + ": " + (text ? utf8(text.get()) : std::string("?"));
  raised_.exception = std::move(exception);
  return fail(Reason::will_raise, raised_.detail);
}

PyRef Capture::exception_of(const Failure& failure) const {
  if (failure.reason != Reason::will_raise || failure.detail != raised_.detail) return {};
  return raised_.exception;
}

void Capture::set_event_site(int site) {
  where_.site = site;
  builder_.set_location(where_);
}

}  // namespace accel
