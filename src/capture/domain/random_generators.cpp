#include "capture/domain/random_generators.h"

#include "cpython/py_ref.h"

namespace accel {

namespace {

// A class of numpy.random; null until its module has been imported.
PyObject* class_of(const char* module_name, const char* class_name) {
  PyRef name = PyRef::steal(PyUnicode_FromString(module_name));
  PyRef module = PyRef::steal(name ? PyImport_GetModule(name.get()) : nullptr);
  PyObject* type = module ? PyObject_GetAttrString(module.get(), class_name) : nullptr;
  PyErr_Clear();
  return type;
}

}  // namespace

PyObject* generator_type() {
  static PyObject* type = nullptr;
  if (type == nullptr) type = class_of("numpy.random._generator", "Generator");
  return type;
}

PyObject* random_state_type() {
  static PyObject* type = nullptr;
  if (type == nullptr) type = class_of("numpy.random.mtrand", "RandomState");
  return type;
}

bool is_generator(PyObject* object) {
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  return type == generator_type() || type == random_state_type();
}

}  // namespace accel
