#include "ndarray/random.h"

#include <numpy/random/bitgen.h>

#include "cpython/py_ref.h"

namespace accel {

BitStream::BitStream(PyObject* bit_generator) {
  PyRef capsule = PyRef::steal(PyObject_GetAttrString(bit_generator, "capsule"));
  if (capsule) bits_ = PyCapsule_GetPointer(capsule.get(), "BitGenerator");
  if (bits_ == nullptr) PyErr_Clear();
}

double BitStream::next_double() const {
  auto* bits = static_cast<bitgen_t*>(bits_);
  return bits->next_double(bits->state);
}

}  // namespace accel
