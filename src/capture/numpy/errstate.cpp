// numpy.errstate: NumPy's Python code makes a capsule of the settings and stores it in a context variable. Code between set and
// reset runs under these settings, which compiled code must follow.

#include "capture/domain/repr.h"
#include "capture/protocol/arguments.h"
#include "capture/protocol/builtin_calls.h"
#include "cpython/imported.h"

namespace accel {

namespace {

constexpr const char* categories[] = {"divide", "over", "under", "invalid"};

bool is_errstate_variable(PyObject* object) {
  static PyObject* const variable = imported_attribute("numpy._core.umath", "_extobj_contextvar").release();
  return object == variable;
}

// Functions that numpy.linalg passes to errstate for its own calls. Only the interpreter calls them: on an event compiled code
// abandons the call.
bool is_raiser_of_linalg(const Ref& ref) {
  if (is_none(ref) || ref->kind != AbstractKind::constant || !PyFunction_Check(ref->object.get())) return false;
  PyRef module = PyRef::steal(PyObject_GetAttrString(ref->object.get(), "__module__"));
  if (!module) PyErr_Clear();
  return module && PyUnicode_Check(module.get()) && utf8(module.get()).rfind("numpy.linalg", 0) == 0;
}

// The errstate after these settings are applied to `state`.
Errstate with_settings(Capture& capture, Errstate state, const Ref& settings) {
  for (size_t k = 0; k < 4; ++k) {
    int bit = 1 << k;
    Result<std::string> mode = read_text(capture, settings->items[k]);
    if (!mode.ok() || mode->empty()) continue;
    bool ignored = *mode == "ignore";
    auto set = [&](int& bits, bool on) { bits = on ? bits | bit : bits & ~bit; };
    set(state.ignored, ignored);
    set(state.reported, !ignored);
    set(state.warned, *mode == "warn");
  }
  return state;
}

Result<Ref> variable_self(const CallArguments& arguments, size_t count) {
  bool known = arguments.positional.size() == count && arguments.keywords.empty() &&
               arguments.positional[0]->kind == AbstractKind::constant &&
               is_errstate_variable(arguments.positional[0]->object.get());
  if (known && arguments.positional[1]->kind == AbstractKind::instance) return arguments.positional[1];
  return fail(Reason::unsupported_call, "a context variable");
}

}  // namespace

// _make_extobj(*, call=, all=None, divide=None, over=None, under=None, invalid=None, bufsize=None): a capsule whose parts are
// the setting of each category and the function to call; None keeps the caller's setting.
Result<Ref> numpy_make_extobj(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"call", "all", "divide", "over", "under", "invalid", "bufsize"}, 0, 0}));
  bool calls = is_raiser_of_linalg(given[0]);
  if ((!is_none(given[0]) && !calls) || !is_none(given[6]))
    return fail(Reason::unsupported_argument, "errstate with call or bufsize; plain form: errstate without call");
  Ref settings = capture.values().instance(&PyCapsule_Type);
  for (size_t k = 0; k < 4; ++k) {
    Ref mode = is_none(given[2 + k]) ? given[1] : given[2 + k];
    ACCEL_TRY(std::string text, read_text(capture, mode));
    bool known = text.empty() || text == "ignore" || text == "warn" || text == "raise" || text == "print";
    if (!known && !(calls && text == "call")) return fail(Reason::unsupported_argument, "errstate(" + text + ")");
    settings->keys.push_back(PyRef::steal(PyUnicode_InternFromString(categories[k])));
    settings->items.push_back(mode ? mode : capture.values().constant(Py_None));
  }
  settings->keys.push_back(PyRef::steal(PyUnicode_InternFromString("call")));
  settings->items.push_back(calls ? given[0] : capture.values().constant(Py_None));
  return settings;
}

// ContextVar.set of NumPy's errstate variable: event sites made from now on have these settings, by which dispatch decides what
// happens on an event.
Result<Ref> capture_context_set(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(Ref settings, variable_self(arguments, 2));
  if (settings->object.get() != reinterpret_cast<PyObject*>(&PyCapsule_Type))
    return fail(Reason::unsupported_call, "ContextVar.set");
  Ref token = capture.values().instance(&PyContextToken_Type);
  Errstate& state = capture.events().errstate();
  token->position = static_cast<size_t>(state.ignored | state.reported << 4 | state.warned << 8);  // for reset
  state = with_settings(capture, state, settings);
  token->items = settings->items;
  capture.events().errstate_tokens().push_back(token);
  return token;
}

Result<Ref> capture_context_reset(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(Ref token, variable_self(arguments, 2));
  if (token->object.get() != reinterpret_cast<PyObject*>(&PyContextToken_Type))
    return fail(Reason::unsupported_call, "ContextVar.reset");
  auto before = static_cast<int>(token->position);
  capture.events().errstate() = {before & 15, before >> 4 & 15, before >> 8};
  std::erase(capture.events().errstate_tokens(), token);
  return capture.values().constant(Py_None);
}

}  // namespace accel
