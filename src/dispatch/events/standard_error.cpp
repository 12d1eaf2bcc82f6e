#include "dispatch/events/standard_error.h"

#include <Python.h>

#include "cpython/dict_version.h"
#include "cpython/imported.h"
#include "cpython/py_ref.h"
#include "dispatch/signals/interrupt.h"

namespace accel {
namespace {

// A type of the module `io` and one of its attributes, read without running Python code.
struct IoAttribute {
  IoAttribute(const char* type_name, const char* name) {
    PyObject* found = imported_attribute("_io", type_name).release();
    if (found == nullptr || !PyType_Check(found)) return;
    PyRef text = PyRef::steal(PyUnicode_InternFromString(name));
    type = reinterpret_cast<PyTypeObject*>(found);
    descriptor = text ? Py_XNewRef(_PyType_Lookup(type, text.get())) : nullptr;
  }
  bool is_of(PyObject* object) const { return object != nullptr && Py_IS_TYPE(object, type) && descriptor != nullptr; }
  // The attribute's value. Requires is_of(). Null without an exception when the object has none.
  PyRef of(PyObject* object) const {
    descrgetfunc get = Py_TYPE(descriptor)->tp_descr_get;
    PyRef value = PyRef::steal(get != nullptr ? get(descriptor, object, reinterpret_cast<PyObject*>(type)) : nullptr);
    if (!value) PyErr_Clear();
    return value;
  }

  PyTypeObject* type = nullptr;
  PyObject* descriptor = nullptr;
};

// Whether bytes written to a sink reach a file or memory through C code alone.
bool is_open_sink(PyObject* sink) {
  static const IoAttribute writer_raw("BufferedWriter", "raw"), random_raw("BufferedRandom", "raw"),
      file_closed("FileIO", "closed"), memory_closed("BytesIO", "closed");
  if (memory_closed.is_of(sink)) return memory_closed.of(sink).get() == Py_False;
  if (file_closed.is_of(sink)) return file_closed.of(sink).get() == Py_False;
  for (const IoAttribute* raw : {&writer_raw, &random_raw}) {
    if (!raw->is_of(sink)) continue;
    PyRef file = raw->of(sink);
    return file_closed.is_of(file.get()) && file_closed.of(file.get()).get() == Py_False;
  }
  return false;
}

// sys.stderr, borrowed; null when it has been deleted, which `warnings` treats as an error.
PyObject* standard_error() {
  static PyObject* const dict = PyModule_GetDict(PyImport_AddModule("sys"));
  static PyObject* const name = PyUnicode_InternFromString("stderr");
  static const uint64_t* const version = watch_dict(dict);
  static PyObject* known = nullptr;
  static uint64_t seen = 0;
  static bool is_known = false;
  if (is_known && version != nullptr && *version == seen) return known;
  known = PyDict_GetItemWithError(dict, name);
  if (known == nullptr) PyErr_Clear();
  if (version != nullptr) seen = *version;
  is_known = true;
  return known;
}

}  // namespace

bool is_stderr_plain() {
  static const IoAttribute text_buffer("TextIOWrapper", "buffer"), text_closed("StringIO", "closed");
  PyObject* stream = standard_error();
  if (stream == nullptr) return false;
  if (stream == Py_None) return true;
  if (text_buffer.is_of(stream)) return is_open_sink(text_buffer.of(stream).get());
  return text_closed.is_of(stream) && text_closed.of(stream).get() == Py_False;
}

bool is_stderr_open() {
  PyObject* stream = standard_error();
  if (stream == nullptr) return false;
  if (stream == Py_None) return true;
  static PyObject* const name = PyUnicode_InternFromString("closed");
  PyRef held = PyRef::borrow(stream), closed = PyRef::steal(PyObject_GetAttr(stream, name));
  if (closed) return closed.get() == Py_False;
  bool has_none = PyErr_ExceptionMatches(PyExc_AttributeError) != 0;
  drop_own_error();
  return has_none;
}

}  // namespace accel
