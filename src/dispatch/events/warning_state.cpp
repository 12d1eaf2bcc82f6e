#include "dispatch/events/warning_state.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "cpython/dict_version.h"
#include "cpython/imported.h"
#include "cpython/py_ref.h"
#include "cpython/version_facts.h"
#include "dispatch/events/standard_error.h"

namespace accel {
namespace {

// Interned names in the module `warnings`.
struct Names {
  PyObject* warnings = PyUnicode_InternFromString("warnings");
  PyObject* filters = PyUnicode_InternFromString("filters");
  PyObject* defaultaction = PyUnicode_InternFromString("defaultaction");
  PyObject* showwarning = PyUnicode_InternFromString("showwarning");
  PyObject* showwarning_orig = PyUnicode_InternFromString("_showwarning_orig");
  PyObject* formatwarning = PyUnicode_InternFromString("formatwarning");
  PyObject* formatwarning_orig = PyUnicode_InternFromString("_formatwarning_orig");
  PyObject* impl = PyUnicode_InternFromString("_showwarnmsg_impl");
  PyObject* called = PyUnicode_InternFromString("_showwarnmsg");
  PyObject* format = PyUnicode_InternFromString("_formatwarnmsg");
  PyObject* message = PyUnicode_InternFromString("WarningMessage");
  PyObject* registry = PyUnicode_InternFromString("__warningregistry__");
  PyObject* version = PyUnicode_InternFromString("version");
};
const Names& names() {
  static const Names made;
  return made;
}

// The dict of the module `warnings`; null when another object has its name in sys.modules.
PyObject* warnings_dict() {
  static PyObject* known = PyImport_ImportModule("warnings");
  if (known == nullptr) PyErr_Clear();
  PyObject* modules = PyImport_GetModuleDict();
  bool same = known != nullptr && PyModule_CheckExact(known) && PyDict_GetItem(modules, names().warnings) == known;
  return same ? PyModule_GetDict(known) : nullptr;
}

bool is_action(PyObject* action, const char* name) {
  return action != nullptr && PyUnicode_CheckExact(action) && PyUnicode_CompareWithASCIIString(action, name) == 0;
}

// Whether a filter's action allows a warning to be given late: it neither raises nor is unknown.
bool is_harmless_action(PyObject* action) {
  constexpr const char* harmless[] = {"default", "ignore", "always", "module", "once"};
  return std::any_of(std::begin(harmless), std::end(harmless), [&](const char* name) { return is_action(action, name); });
}

// Which RuntimeWarnings a filter (action, message, category, module, line) applies to.
enum class FilterKind : uint8_t { other, some, all, unknown };

FilterKind kind_of(PyObject* filter) {
  if (!PyTuple_CheckExact(filter) || PyTuple_GET_SIZE(filter) != 5) return FilterKind::unknown;
  PyObject* category = PyTuple_GET_ITEM(filter, 2);
  if (!PyType_Check(category)) return FilterKind::unknown;
  bool matches =
      PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(PyExc_RuntimeWarning), reinterpret_cast<PyTypeObject*>(category)) != 0;
  if (!matches) return FilterKind::other;
  PyObject* line = PyTuple_GET_ITEM(filter, 4);
  bool all = PyTuple_GET_ITEM(filter, 1) == Py_None && PyTuple_GET_ITEM(filter, 3) == Py_None && PyLong_CheckExact(line) &&
             PyObject_Not(line) == 1;
  return all ? FilterKind::all : FilterKind::some;
}

WarningState state_of(PyObject* filters, PyObject* default_action) {
  if (filters == nullptr || !PyList_CheckExact(filters)) return {};
  WarningState state{Hearing::later, true};
  bool some = false;
  auto add = [&](PyObject* action) {
    if (!is_harmless_action(action)) state.hearing = Hearing::now;
    if (is_action(action, "always")) state.once = false;
  };
  for (Py_ssize_t k = 0; k < PyList_GET_SIZE(filters); ++k) {
    PyObject* filter = PyList_GET_ITEM(filters, k);
    FilterKind kind = kind_of(filter);
    if (kind == FilterKind::unknown) return {};
    if (kind == FilterKind::other) continue;
    add(PyTuple_GET_ITEM(filter, 0));
    if (kind == FilterKind::all) {
      if (!some && is_action(PyTuple_GET_ITEM(filter, 0), "ignore")) state.hearing = Hearing::nobody;
      return state;
    }
    some = true;
  }
  add(default_action);
  return state;
}

// The dict of the module that defines the functions of `warnings`, whose dict is `dict`.
PyObject* defining_dict(PyObject* dict) {
  if (!has_py_warnings) return dict;
  static PyObject* const module = PyImport_ImportModule("_py_warnings");
  if (module == nullptr) PyErr_Clear();
  return module != nullptr ? PyModule_GetDict(module) : nullptr;
}

// Whether filters and records of warnings are those of the current context, and not of the module.
bool is_by_context() {
  if (!has_py_warnings) return false;
  static PyObject* const flags = PySys_GetObject("flags");
  static const bool found = [] {
    PyRef flag = PyRef::steal(flags != nullptr ? PyObject_GetAttrString(flags, "context_aware_warnings") : nullptr);
    if (!flag) PyErr_Clear();
    return flag && PyObject_IsTrue(flag.get()) == 1;
  }();
  return found;
}

// Whether `function` is a Python function that the module `warnings` has from the start.
bool is_of_module(PyObject* dict, PyObject* function) {
  return function != nullptr && PyFunction_Check(function) && PyFunction_GetGlobals(function) == defining_dict(dict);
}

// Whether warnings are printed by the module's own functions, or recorded by a built-in method (list.append).
bool shows_plainly(PyObject* dict) {
  PyObject* impl = PyDict_GetItem(dict, names().impl);
  if (impl == nullptr || !((PyFunction_Check(impl) && is_of_module(dict, impl)) || PyCFunction_CheckExact(impl))) return false;
  PyObject* message = PyDict_GetItem(dict, names().message);
  if (message == nullptr || !PyType_Check(message) || !is_of_module(dict, PyDict_GetItem(dict, names().called)) ||
      !is_of_module(dict, PyDict_GetItem(dict, names().format)))
    return false;
  return PyDict_GetItem(dict, names().showwarning) == PyDict_GetItem(dict, names().showwarning_orig) &&
         PyDict_GetItem(dict, names().formatwarning) == PyDict_GetItem(dict, names().formatwarning_orig);
}

// A cached state, with the objects that it was computed from: valid as long as these are unchanged.
struct KnownState {
  const uint64_t *counter = nullptr, *modules = nullptr;  // versions of the dicts of `warnings` and of sys.modules
  uint64_t version = 0, modules_version = 0;
  PyRef list;
  std::vector<PyRef> filters;
  WarningState state;

  bool holds() const {
    if (counter == nullptr || *modules != modules_version || *counter != version ||
        static_cast<size_t>(PyList_GET_SIZE(list.get())) != filters.size())
      return false;
    for (size_t k = 0; k < filters.size(); ++k)
      if (PyList_GET_ITEM(list.get(), static_cast<Py_ssize_t>(k)) != filters[k].get()) return false;
    return true;
  }
  void set(PyObject* dict, PyObject* found, WarningState verdict) {
    counter = found != nullptr && PyList_CheckExact(found) ? watch_dict(dict) : nullptr;
    modules = watch_dict(PyImport_GetModuleDict());
    if (modules == nullptr) counter = nullptr;
    if (counter == nullptr) return;
    version = *counter, modules_version = *modules;
    std::vector<PyRef> items;
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(found); ++k) items.push_back(PyRef::borrow(PyList_GET_ITEM(found, k)));
    list = PyRef::borrow(found);
    std::swap(filters, items);
    state = verdict;
  }
};

// The __warningregistry__ of a module, created when missing; new reference.
PyRef registry_of(PyObject* globals) {
  PyObject* name = names().registry;
  if (PyObject* found = PyDict_GetItemWithError(globals, name)) return PyRef::borrow(found);
  PyRef made = PyErr_Occurred() ? PyRef() : PyRef::steal(PyDict_New());
  if (made && PyDict_SetItem(globals, name, made.get()) < 0) return {};
  return made;
}

// Whether registries of this version are valid. Calls the C function warn_explicit with a category that is not a class: it
// returns silently if a valid registry has the key, and fails otherwise. Requires that there is a filter.
bool is_current(PyObject* version) {
  static PyObject* const ask = imported_attribute("_warnings", "warn_explicit").release();
  static PyObject* const text = PyUnicode_InternFromString("?");
  static PyObject* const no_class = imported_attribute("builtins", "id").release();
  static PyObject* const line = PyLong_FromLong(1);
  PyRef key = PyRef::steal(PyTuple_Pack(3, text, no_class, line)), registry = PyRef::steal(PyDict_New());
  bool ready = ask != nullptr && no_class != nullptr && key && registry &&
               PyDict_SetItem(registry.get(), names().version, version) == 0 &&
               PyDict_SetItem(registry.get(), key.get(), Py_True) == 0;
  PyRef answer = PyRef::steal(
      ready ? PyObject_CallFunctionObjArgs(ask, text, no_class, text, line, text, registry.get(), nullptr) : nullptr);
  if (!answer) PyErr_Clear();
  return static_cast<bool>(answer);
}

}  // namespace

WarningState warning_state() {
  static auto* known = new KnownState;
  if (known->holds()) return known->state;
  PyObject* dict = warnings_dict();
  if (dict == nullptr || is_by_context()) return {};
  PyObject* filters = PyDict_GetItem(dict, names().filters);
  WarningState state = state_of(filters, PyDict_GetItem(dict, names().defaultaction));
  PyObject* impl = PyDict_GetItem(dict, names().impl);
  state.only_taken = impl != nullptr && PyCFunction_CheckExact(impl);
  if (state.hearing == Hearing::later && !shows_plainly(dict)) state.hearing = Hearing::now;
  known->set(dict, filters, state);
  return state;
}

bool prints_unseen(const WarningState& state, bool writes) {
  return state.only_taken || (writes ? is_stderr_plain() : is_stderr_open());
}

bool ShownWarnings::contains(PyObject* globals, PyObject* key) {
  PyObject* dict = warnings_dict();
  PyObject* filters = dict != nullptr ? PyDict_GetItem(dict, names().filters) : nullptr;
  if (filters == nullptr || !PyList_CheckExact(filters) || PyList_GET_SIZE(filters) == 0) return false;
  PyObject* registry = PyDict_GetItem(globals, names().registry);
  if (registry == nullptr || !PyDict_CheckExact(registry)) return false;
  PyObject* shown = PyDict_GetItem(registry, key);
  PyObject* version = shown == Py_True ? PyDict_GetItem(registry, names().version) : nullptr;
  if (version == nullptr) return false;
  if (version != version_) is_current_ = is_current(version);
  version_ = version;
  return is_current_;
}

bool warn_at(PyObject* globals, PyObject* file, int line, PyObject* message) {
  PyRef registry = registry_of(globals);
  if (!registry) return false;
  PyObject* module = PyDict_GetItemString(globals, "__name__");
  PyRef name = module != nullptr && (PyUnicode_Check(module) || module == Py_None)
                   ? PyRef::borrow(module)
                   : PyRef::steal(PyUnicode_FromString("<string>"));
  return PyErr_WarnExplicitObject(PyExc_RuntimeWarning, message, file, line, name.get(), registry.get()) == 0;
}

}  // namespace accel
