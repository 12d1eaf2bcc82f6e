// numpy.errstate: NumPy's Python code makes a capsule of the settings and puts it into a context variable. Between set and
// reset the captured code runs under these settings, which compiled code has to keep to.

#include "capture/builtin_primitives.h"
#include "capture/known_types.h"
#include "capture/numpy_arguments.h"
#include "capture/python_text.h"

namespace accel {

namespace {

constexpr const char* categories[] = {"divide", "over", "under", "invalid"};

bool is_errstate_variable(PyObject* object) {
  static PyObject* variable = [] {
    PyRef module = PyRef::steal(PyImport_ImportModule("numpy._core.umath"));
    PyObject* found = module ? PyObject_GetAttrString(module.get(), "_extobj_contextvar") : nullptr;
    if (found == nullptr) PyErr_Clear();
    return found;
  }();
  return object == variable;
}

Result<Ref> variable_self(const CallArguments& arguments, size_t count) {
  bool known = arguments.positional.size() == count && arguments.keywords.empty() &&
               arguments.positional[0]->kind == AbstractKind::constant &&
               is_errstate_variable(arguments.positional[0]->object.get());
  if (known && arguments.positional[1]->kind == AbstractKind::instance) return arguments.positional[1];
  return fail(Reason::unsupported_call, "a context variable");
}

}  // namespace

// _make_extobj(*, call=, all=None, divide=None, over=None, under=None, invalid=None, bufsize=None): the parts are the settings
// by category; None is the caller's.
Result<Ref> numpy_make_extobj(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"call", "all", "divide", "over", "under", "invalid", "bufsize"}, 0, 0}));
  if (!is_none(given[0]) || !is_none(given[6])) return fail(Reason::unsupported_argument, "errstate with call or bufsize");
  Ref settings = capture.instance(&PyCapsule_Type);
  for (size_t k = 0; k < 4; ++k) {
    Ref mode = is_none(given[2 + k]) ? given[1] : given[2 + k];
    ACCEL_TRY(std::string text, read_text(capture, mode));
    if (!text.empty() && text != "ignore") return fail(Reason::unsupported_argument, "errstate(" + text + ")");
    settings->keys.push_back(PyRef::steal(PyUnicode_InternFromString(categories[k])));
    settings->items.push_back(mode ? mode : capture.constant(Py_None));
  }
  return settings;
}

// Events that are ignored are reported all the same: the interpreter then runs the call, and ignores them.
Result<Ref> capture_context_set(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(Ref settings, variable_self(arguments, 2));
  if (settings->object.get() != reinterpret_cast<PyObject*>(&PyCapsule_Type))
    return fail(Reason::unsupported_call, "ContextVar.set");
  return capture.instance(&PyContextToken_Type);
}

Result<Ref> capture_context_reset(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(Ref token, variable_self(arguments, 2));
  if (token->object.get() != reinterpret_cast<PyObject*>(&PyContextToken_Type))
    return fail(Reason::unsupported_call, "ContextVar.reset");
  return capture.constant(Py_None);
}

}  // namespace accel
