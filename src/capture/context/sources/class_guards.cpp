#include "capture/context/sources/class_guards.h"

#include "capture/context/context.h"
#include "capture/domain/recognised_types.h"
#include "capture/domain/repr.h"
#include "guard/fetch.h"

namespace accel {

namespace {

SourceId source_of(Capture& capture, PyTypeObject* type) {
  auto* object = reinterpret_cast<PyObject*>(type);
  return capture.sources().pinned(object, short_repr(object));
}

}  // namespace

void guard_class_entry(Capture& capture, PyTypeObject* type, PyObject* name) {
  if (!can_change(type)) return;
  PyObject* found = _PyType_Lookup(type, name);
  SourceId entry = capture.sources().attribute(source_of(capture, type), name);
  found == nullptr ? capture.sources().guard_unbound(entry) : capture.sources().guard_identity(entry, found);
}

void guard_class_entries(Capture& capture, PyTypeObject* type, std::initializer_list<const char*> names) {
  if (!can_change(type)) return;
  for (const char* name : names) guard_class_entry(capture, type, PyRef::steal(PyUnicode_InternFromString(name)).get());
}

void guard_plain_lookup(Capture& capture, PyTypeObject* type) {
  guard_class_entries(capture, type, {"__getattribute__", "__getattr__"});
}

void guard_bases(Capture& capture, PyTypeObject* type) {
  if (!can_change(type)) return;
  static PyObject* const name = PyUnicode_InternFromString("__mro__");
  capture.sources().guard_identity(capture.sources().attribute(source_of(capture, type), name), type->tp_mro);
}

}  // namespace accel
