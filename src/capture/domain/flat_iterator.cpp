#include "capture/domain/flat_iterator.h"

#include "cpython/imported.h"

namespace accel {

bool is_flat(const Ref& value) {
  if (value->kind != AbstractKind::method) return false;
  PyObject* descriptor = value->items[0]->object.get();
  return descriptor != nullptr && Py_IS_TYPE(descriptor, &PyGetSetDescr_Type);
}

PyTypeObject* flat_type() {
  static PyObject* const type = imported_attribute("numpy", "flatiter").release();
  return reinterpret_cast<PyTypeObject*>(type);
}

const Ref& flat_array(const Ref& flat) { return flat->items[1]; }

}  // namespace accel
