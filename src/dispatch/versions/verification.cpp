#include "dispatch/versions/verification.h"

#include <vector>

#include "base/settings.h"
#include "cpython/arguments.h"
#include "dispatch/reports/python_errors.h"

namespace accel {
namespace {

// Random numbers from 0 to 1, independent of the user's generators.
double next_random() {
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<double>(state >> 11) * 0x1p-53;
}

PyRef new_tuple_of(PyObject* const* items, Py_ssize_t count) {
  PyRef tuple = PyRef::steal(PyTuple_New(count));
  for (Py_ssize_t i = 0; tuple && i < count; i++) PyTuple_SET_ITEM(tuple.get(), i, Py_NewRef(items[i]));
  return tuple;
}

PyRef new_check(PyObject* function, PyObject* const* args, Py_ssize_t positional, PyObject* names) {
  Py_ssize_t count = positional + (names != nullptr ? PyTuple_GET_SIZE(names) : 0);
  PyRef module = PyRef::steal(PyImport_ImportModule("accel._verify"));
  PyRef values = new_tuple_of(args, count);
  if (!module || !values) return {};
  return PyRef::steal(
      PyObject_CallMethod(module.get(), "Check", "OOO", function, values.get(), names != nullptr ? names : Py_None));
}

// The result of compiled code for the check's copies; null when it does not answer the call as a whole.
PyRef run_on_copies(Entry& entry, PyObject* function, PyObject* check, Py_ssize_t positional, PyObject* names) {
  PyRef copies = PyRef::steal(PyObject_GetAttrString(check, "copies"));
  BoundArguments bound;
  auto* of = reinterpret_cast<PyFunctionObject*>(function);
  if (!copies || !bound.bind(of, &PyTuple_GET_ITEM(copies.get(), 0), static_cast<size_t>(positional), names)) return {};
  PyRef silenced = PyRef::steal(PyObject_CallMethod(check, "silence", nullptr));
  if (!silenced) return {};
  PyObject* result = nullptr;
  Outcome outcome = entry.run(function, bound.locals(), RunMode::rehearsal, &result);
  PyErr_Clear();
  PyRef found = outcome == Outcome::returned ? PyRef::steal(result) : PyRef();
  PyRef spoken = PyRef::steal(PyObject_CallMethod(check, "speak", nullptr));
  return spoken ? std::move(found) : PyRef();
}

}  // namespace

bool is_next_verified() {
  double share = settings().verify.get();
  return share > 0 && next_random() < share;
}

std::optional<Verification> Verification::begin(EntryHold entry, PyObject* function, PyObject* const* args, size_t nargsf,
                                                PyObject* names) {
  Py_ssize_t positional = PyVectorcall_NARGS(nargsf);
  PyRef check = new_check(function, args, positional, names);
  PyRef found = check ? run_on_copies(*entry, function, check.get(), positional, names) : PyRef();
  if (!found || PyObject_SetAttrString(check.get(), "found", found.get()) < 0) {
    PyErr_Clear();
    return std::nullopt;
  }
  return Verification(std::move(check));
}

std::string Verification::finish(PyObject* expected) const {
  PyObject *type = nullptr, *error = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &error, &traceback);
  if (type != nullptr) PyErr_NormalizeException(&type, &error, &traceback);
  PyRef text = PyRef::steal(PyObject_CallMethod(check_.get(), "finish", "OO", expected != nullptr ? expected : Py_None,
                                                error != nullptr ? error : Py_None));
  std::string difference = text && PyUnicode_Check(text.get()) ? PyUnicode_AsUTF8(text.get()) : take_exception_text();
  PyErr_Restore(type, error, traceback);
  return difference;
}

}  // namespace accel
