#include "cpython/dict_version.h"

#include <unordered_map>

namespace accel {

#if PY_VERSION_HEX >= 0x030C0000

namespace {

// A counter lives as long as its dict. The table is never destroyed: dicts die while the interpreter is finalised, after static
// destructors may have run.
struct WatchedDicts {
  std::unordered_map<PyObject*, uint64_t> counter_of;  // entries stay where they are in memory
  uint64_t begun = 0;                                  // counters so far
  int watcher = -1;
};

WatchedDicts& watched_dicts() {
  static auto* dicts = new WatchedDicts;
  return *dicts;
}

// Called before the change. Must not raise.
int on_change(PyDict_WatchEvent event, PyObject* dict, PyObject*, PyObject*) {
  WatchedDicts& dicts = watched_dicts();
  auto found = dicts.counter_of.find(dict);
  if (found == dicts.counter_of.end()) return 0;
  ++found->second;
  if (event == PyDict_EVENT_DEALLOCATED) dicts.counter_of.erase(found);
  return 0;
}

bool have_watcher(WatchedDicts& dicts) {
  if (dicts.watcher < 0) dicts.watcher = PyDict_AddWatcher(on_change);
  return dicts.watcher >= 0;
}

}  // namespace

const uint64_t* watch_dict(PyObject* dict) {
  WatchedDicts& dicts = watched_dicts();
  auto found = dicts.counter_of.find(dict);
  if (found != dicts.counter_of.end()) return &found->second;
  if (!have_watcher(dicts) || PyDict_Watch(dicts.watcher, dict) < 0) {
    PyErr_Clear();
    return nullptr;
  }
  // Each counter starts above all values of an earlier one for this address.
  return &(dicts.counter_of[dict] = ++dicts.begun << 32);
}

uint32_t type_version(PyTypeObject* type) {
#if PY_VERSION_HEX < 0x030D0000
  if (!PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG)) return 0;
#endif
  return type->tp_version_tag;
}

uint32_t assign_type_version(PyTypeObject* type) { return PyUnstable_Type_AssignVersionTag(type) ? type_version(type) : 0; }

#else

// The dict carries its version; a later dict at this address has another version.
const uint64_t* watch_dict(PyObject* dict) { return &reinterpret_cast<PyDictObject*>(dict)->ma_version_tag; }

uint32_t type_version(PyTypeObject* type) {
  return PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG) ? type->tp_version_tag : 0;
}

uint32_t assign_type_version(PyTypeObject* type) {
  static PyObject* name = PyUnicode_InternFromString("__class__");
  if (name) _PyType_Lookup(type, name);  // a look-up that fills the method cache assigns the tag
  return type_version(type);
}

#endif

}  // namespace accel
