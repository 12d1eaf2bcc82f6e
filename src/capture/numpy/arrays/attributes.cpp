// Attributes of arrays and NumPy scalars.

#include <algorithm>
#include <numeric>

#include "capture/numpy/arrays/views.h"
#include "capture/protocol/masked_selection.h"
#include "capture/protocol/numpy_calls.h"
#include "capture/protocol/operands.h"
#include "capture/protocol/ufunc_calls.h"
#include "ndarray/array.h"

namespace accel {

namespace {

DType dtype_of(const Operand& self) { return self.type.dtype; }

Result<Ref> get_shape(Capture& capture, const Operand& self) { return capture.values().shape_tuple(self.shape); }
Result<Ref> get_ndim(Capture& capture, const Operand& self) {
  return capture.values().python_int(static_cast<int64_t>(self.shape.size()));
}
Result<Ref> get_size(Capture& capture, const Operand& self) {
  return capture.values().dim_scalar(element_count(capture, self.shape));
}
Result<Ref> get_itemsize(Capture& capture, const Operand& self) {
  return capture.values().python_int(item_size(dtype_of(self)));
}
Result<Ref> get_dtype(Capture& capture, const Operand& self) { return capture.values().constant(descr_of(dtype_of(self))); }

Result<Ref> get_nbytes(Capture& capture, const Operand& self) {
  return capture.values().dim_scalar(capture.dims().mul(element_count(capture, self.shape), item_size(dtype_of(self))));
}

Result<Ref> get_transpose(Capture& capture, const Operand& self) {
  if (!self.is_array()) return self.ref;
  std::vector<int> axes(self.shape.size());
  std::iota(axes.rbegin(), axes.rend(), 0);
  return transposed_view(capture, self.ref, axes);
}

Result<Ref> get_matrix_transpose(Capture& capture, const Operand& self) {
  if (!self.is_array() || self.shape.size() < 2) return fail(Reason::will_raise, "matrix transpose with ndim < 2 is undefined");
  std::vector<int> axes(self.shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return transposed_view(capture, self.ref, axes);
}

Result<Ref> complex_part(Capture& capture, const Operand& self, bool imaginary) {
  if (self.is_array()) return part_view(capture, self.ref, imaginary);
  ACCEL_TRY(ValueId value, capture.values().scalar_value(self.ref));
  return wrap_result(capture, imaginary ? capture.build().imag(value) : capture.build().real(value), false);
}

Result<Ref> get_real(Capture& capture, const Operand& self) {
  if (dtype_kind(dtype_of(self)) == 'c') return complex_part(capture, self, false);
  return self.ref;
}

Result<Ref> get_imag(Capture& capture, const Operand& self) {
  if (dtype_kind(dtype_of(self)) == 'c') return complex_part(capture, self, true);
  if (self.is_array()) {
    // A read-only array of zeros, in Fortran order if the array is in that order only.
    Literal literal;
    literal.dtype = dtype_of(self);
    ACCEL_TRY(std::vector<uint8_t> order, copy_order(capture, self.ref, "A"));
    ValueId number = capture.build().constant(literal, ValueKind::numpy_scalar);
    Ref zeros = capture.values().fresh_array(capture.build().full(number, self.shape, order));
    zeros->array.writeable = false;
    zeros->array.storage->read_only = true;
    return zeros;
  }
  ACCEL_TRY(ValueId zero, operand_value(capture, *as_operand(capture, capture.values().python_int(0)), dtype_of(self)));
  return wrap_result(capture, zero, false);
}

Result<Ref> get_flat(Capture& capture, const Operand& self) {
  if (!self.is_array()) return fail(Reason::unsupported_attribute, "flat of a NumPy scalar");
  PyRef name = PyRef::steal(PyUnicode_InternFromString("flat"));
  return capture.values().method(capture.values().constant(_PyType_Lookup(array_type(), name.get())), self.ref);
}

Result<Ref> get_device(Capture& capture, const Operand&) {
  PyRef text = PyRef::steal(PyUnicode_InternFromString("cpu"));
  return capture.values().constant(text.get());
}

Result<Ref> get_flags(Capture& capture, const Operand& self) {
  if (!self.is_array()) return fail(Reason::unsupported_attribute, "flags of a scalar");
  return array_flags(capture, self.ref);
}

constexpr struct {
  const char* name;
  Result<Ref> (*get)(Capture&, const Operand&);
} attributes[] = {
    {"shape", get_shape},   {"ndim", get_ndim},   {"size", get_size},     {"itemsize", get_itemsize},
    {"nbytes", get_nbytes}, {"dtype", get_dtype}, {"T", get_transpose},   {"mT", get_matrix_transpose},
    {"real", get_real},     {"imag", get_imag},   {"device", get_device}, {"flat", get_flat},
    {"flags", get_flags},
};

}  // namespace

Result<Ref> array_attribute(Capture& capture, const Ref& ref, const std::string& name) {
  ACCEL_TRY(Operand self, read_lanes(capture, ref));
  for (const auto& row : attributes) {
    if (name != row.name) continue;
    bool of_elements = name == "dtype" || name == "itemsize";
    if (is_masked_selection(ref) && !of_elements) {
      ACCEL_TRY(self, read_operand(capture, ref));
    }
    return row.get(capture, self);
  }
  PyRef text = PyRef::steal(PyUnicode_FromString(name.c_str()));
  PyTypeObject* type = capture.values().type_of(ref);
  PyObject* descriptor = text ? _PyType_Lookup(type, text.get()) : nullptr;
  if (descriptor != nullptr && Py_IS_TYPE(descriptor, &PyMethodDescr_Type))
    return capture.values().method(capture.values().constant(descriptor), ref);
  return fail(Reason::unsupported_attribute, std::string(type->tp_name) + "." + name);
}

}  // namespace accel
