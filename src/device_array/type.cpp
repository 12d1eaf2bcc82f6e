// The type accel.DeviceArray.

#include <cstddef>
#include <cstring>

#include "cpython/imported.h"
#include "device_array/dlpack.h"
#include "device_array/guests.h"
#include "device_array/indexing.h"
#include "device_array/object.h"
#include "device_array/operators.h"
#include "device_array/transfer.h"
#include "device_array/views.h"

namespace accel {
namespace {

void dealloc_device_array(PyObject* self) {
  DeviceArrayObject* array = as_device(self);
  if (array->fields.weak_references != nullptr) PyObject_ClearWeakRefs(self);
  Py_CLEAR(array->fields.base);
  Py_CLEAR(array->fields.descr);
  array->~DeviceArrayObject();
  PyObject_Free(self);
}

// ---- Attributes

PyObject* tuple_of_extents(std::span<const int64_t> values) {
  PyRef tuple = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  for (size_t i = 0; tuple && i < values.size(); i++) {
    PyObject* value = PyLong_FromLongLong(values[i]);
    if (value == nullptr) return nullptr;
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), value);
  }
  return tuple.release();
}

PyObject* get_shape(PyObject* self, void*) { return tuple_of_extents(dims_of(self)); }
PyObject* get_strides(PyObject* self, void*) { return tuple_of_extents(strides_of(self)); }
PyObject* get_dtype(PyObject* self, void*) { return Py_NewRef(as_device(self)->fields.descr); }
PyObject* get_ndim(PyObject* self, void*) { return PyLong_FromLong(as_device(self)->fields.rank); }
PyObject* get_size(PyObject* self, void*) { return PyLong_FromLongLong(element_count(dims_of(self))); }
PyObject* get_nbytes(PyObject* self, void*) { return PyLong_FromLongLong(bytes_of(self)); }
PyObject* get_itemsize(PyObject* self, void*) { return PyLong_FromLong(item_size(dtype_of(self))); }
PyObject* get_device(PyObject* self, void*) { return PyUnicode_FromFormat("cuda:%d", device_of(self).number()); }
PyObject* get_interface(PyObject* self, void*) { return cuda_array_interface(self); }

PyObject* get_base(PyObject* self, void*) {
  PyObject* base = as_device(self)->fields.base;
  return Py_NewRef(base != nullptr ? base : Py_None);
}

PyObject* get_flags(PyObject* self, void*) {
  ArrayLayout layout = array_layout(self);
  PyRef flags = PyRef::steal(
      Py_BuildValue("(iiiii)", layout.c_contiguous, layout.f_contiguous, layout.owns_data, layout.writeable, layout.aligned));
  return flags ? call_device_function("array_flags", {flags.get()}) : nullptr;
}

PyObject* get_view(PyObject* self, void* name) { return view_attribute(self, static_cast<const char*>(name)); }

// real and imag: views of complex arrays. The other arrays are their own real part.
PyObject* get_part(PyObject* self, void* name) {
  auto* text = static_cast<const char*>(name);
  if (dtype_kind(dtype_of(self)) == 'c') return view_attribute(self, text);
  return std::strcmp(text, "real") == 0 ? Py_NewRef(self) : call_device_function("imaginary_part", {self});
}

#define NAMED(name, getter, doc) {name, getter, nullptr, doc, const_cast<char*>(name)}
PyGetSetDef attributes[] = {
    NAMED("shape", get_shape, "Extents of the axes."),
    NAMED("strides", get_strides, "Bytes from an element to the next one along each axis."),
    NAMED("dtype", get_dtype, "NumPy's dtype of the elements."),
    NAMED("ndim", get_ndim, "Number of axes."),
    NAMED("size", get_size, "Number of elements."),
    NAMED("nbytes", get_nbytes, "Bytes of all elements."),
    NAMED("itemsize", get_itemsize, "Bytes of one element."),
    NAMED("device", get_device, "Where the memory is, such as \"cuda:0\"."),
    NAMED("base", get_base, "The array that this one is a view of, or None."),
    NAMED("flags", get_flags, "How the elements lie in memory. Cannot be set."),
    NAMED("T", get_view, "View with the axes reversed."),
    NAMED("mT", get_view, "View with the last two axes exchanged."),
    NAMED("real", get_part, "The real part: a view."),
    NAMED("imag", get_part, "The imaginary part: a view of a complex array."),
    NAMED("__cuda_array_interface__", get_interface, "Version 3 of the interface."),
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
#undef NAMED

// ---- Methods

PyObject* numpy_copy(PyObject* self, PyObject*) { return to_host(self); }

PyObject* array_protocol(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static char dtype_name[] = "dtype", copy_name[] = "copy";
  static char* names[] = {dtype_name, copy_name, nullptr};
  PyObject *dtype = Py_None, *copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|OO:__array__", names, &dtype, &copy)) return nullptr;
  if (copy == Py_False) {
    PyErr_SetString(PyExc_ValueError, "Unable to avoid copy: the array is in the memory of a CUDA device");
    return nullptr;
  }
  PyRef host = PyRef::steal(to_host(self));
  return host && dtype != Py_None ? PyObject_CallMethod(host.get(), "astype", "O", dtype) : host.release();
}

PyObject* tolist(PyObject* self, PyObject*) {
  PyRef host = PyRef::steal(to_host(self));
  return host ? PyObject_CallMethod(host.get(), "tolist", nullptr) : nullptr;
}

PyObject* to_complex(PyObject* self, PyObject*) {
  PyRef complex = PyRef::borrow(reinterpret_cast<PyObject*>(&PyComplex_Type));
  bool is_read = element_count(dims_of(self)) == 1;
  PyRef value = PyRef::steal(is_read ? to_host(self) : new_unreadable_array(as_device(self)->fields));
  return value ? PyObject_CallOneArg(complex.get(), value.get()) : nullptr;
}

PyObject* fill(PyObject* self, PyObject* value) {
  if (!store(self, value)) return nullptr;
  Py_RETURN_NONE;
}

// A method of a function of accel._device_functions that takes the name of the method, the array, and the arguments.
PyObject* call_method(const char* function, const char* name, PyObject* self, PyObject* arguments, PyObject* keywords) {
  PyRef text = PyRef::steal(PyUnicode_InternFromString(name));
  PyRef named = PyRef::steal(keywords != nullptr ? Py_NewRef(keywords) : PyDict_New());
  return text && named ? call_device_function(function, {text.get(), self, arguments, named.get()}) : nullptr;
}

#define VIEW(name) \
  PyObject* view_##name(PyObject* s, PyObject* a, PyObject* k) { return call_view_method(#name, s, a, k); }
#define COMPUTED(name) \
  PyObject* computed_##name(PyObject* s, PyObject* a, PyObject* k) { return call_method("method", #name, s, a, k); }
#define PROTOCOL(name) \
  PyObject* protocol_##name(PyObject* s, PyObject* a, PyObject* k) { return call_method("protocol", #name, s, a, k); }
#include "device_array/methods.inc"

PyObject* conjugate(PyObject* self, PyObject* arguments, PyObject* keywords) {
  bool is_itself = dtype_kind(dtype_of(self)) != 'c' && PyTuple_GET_SIZE(arguments) == 0 && keywords == nullptr;
  return is_itself ? Py_NewRef(self) : call_method("method", "conj", self, arguments, keywords);
}

#define WITH_KEYWORDS(name, function, doc) \
  {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_VARARGS | METH_KEYWORDS, doc}
#define VIEW(name) WITH_KEYWORDS(#name, view_##name, "The view that ndarray." #name " gives."),
#define COMPUTED(name) WITH_KEYWORDS(#name, computed_##name, "ndarray." #name " on the device."),
#define PROTOCOL(name) WITH_KEYWORDS(#name, protocol_##name, nullptr),
PyMethodDef array_methods[] = {
#include "device_array/methods.inc"
    WITH_KEYWORDS("reshape", device_array_reshape, "As ndarray.reshape: a view where that is possible."),
    WITH_KEYWORDS("ravel", device_array_ravel, "As ndarray.ravel: a view where that is possible."),
    WITH_KEYWORDS("flatten", device_array_flatten, "A copy with one axis."),
    WITH_KEYWORDS("copy", device_array_copy, "A copy on the device."),
    WITH_KEYWORDS("conj", conjugate, "The complex conjugate."),
    WITH_KEYWORDS("conjugate", conjugate, "The complex conjugate."),
    WITH_KEYWORDS("__array__", array_protocol, "A copy as an ndarray."),
    WITH_KEYWORDS("__dlpack__", export_dlpack, "The array as a capsule of DLPack."),
    {"__dlpack_device__", dlpack_device, METH_NOARGS, "Type and number of the device for DLPack."},
    {"__complex__", to_complex, METH_NOARGS, "The one element as a complex number."},
    {"numpy", numpy_copy, METH_NOARGS, "A copy as an ndarray. Waits for the device."},
    {"tolist", tolist, METH_NOARGS, "The elements as nested lists of Python numbers. Waits for the device."},
    {"item", device_array_item, METH_VARARGS, "One element as a Python number. Waits for the device."},
    {"fill", fill, METH_O, "Assigns a value to all elements."},
    {nullptr, nullptr, 0, nullptr},
};
#undef WITH_KEYWORDS

// ---- The type

Py_ssize_t length(PyObject* self) {
  if (as_device(self)->fields.rank > 0) return dims_of(self)[0];
  PyErr_SetString(PyExc_TypeError, "len() of unsized object");
  return -1;
}

PyObject* iterate(PyObject* self) {
  if (as_device(self)->fields.rank > 0) return PySeqIter_New(self);
  PyErr_SetString(PyExc_TypeError, "iteration over a 0-d array");
  return nullptr;
}

int contains(PyObject* self, PyObject* value) {
  PyRef found = PyRef::steal(call_device_function("contains", {self, value}));
  return found ? PyObject_IsTrue(found.get()) : -1;
}

PyObject* repr_of_device_array(PyObject* self) { return call_device_function("array_repr", {self}); }
PyObject* str_of_device_array(PyObject* self) { return call_device_function("array_str", {self}); }

PySequenceMethods make_sequence_methods() {
  PySequenceMethods methods = {};
  methods.sq_length = length;
  methods.sq_item = device_item;
  methods.sq_contains = contains;
  return methods;
}

PySequenceMethods sequence_methods = make_sequence_methods();
PyMappingMethods mapping_methods = {length, device_subscript, assign_device_subscript};

PyTypeObject make_device_array_type() {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "accel.DeviceArray";
  type.tp_doc =
      "An array in the memory of a CUDA device, with the attributes and methods of an ndarray. accel.to_device makes one.";
  type.tp_basicsize = sizeof(DeviceArrayObject);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  type.tp_weaklistoffset = offsetof(DeviceArrayObject, fields) + offsetof(ArrayFields, weak_references);
  type.tp_dealloc = dealloc_device_array;
  type.tp_repr = repr_of_device_array;
  type.tp_str = str_of_device_array;
  type.tp_hash = PyObject_HashNotImplemented;
  type.tp_iter = iterate;
  type.tp_richcompare = compare_device_array;
  type.tp_as_number = &device_number_methods;
  type.tp_as_sequence = &sequence_methods;
  type.tp_as_mapping = &mapping_methods;
  type.tp_getset = attributes;
  type.tp_methods = array_methods;
  return type;
}

}  // namespace

PyTypeObject* device_array_type() {
  static PyTypeObject type = make_device_array_type();
  if ((type.tp_flags & Py_TPFLAGS_READY) == 0 && PyType_Ready(&type) < 0) return nullptr;
  return &type;
}

PyObject* method_of_device_arrays(PyObject* descriptor) {
  if (!Py_IS_TYPE(descriptor, &PyMethodDescr_Type) && !Py_IS_TYPE(descriptor, &PyWrapperDescr_Type)) return nullptr;
  static PyObject* const arrays = imported_attribute("numpy", "ndarray").release();
  if (reinterpret_cast<PyObject*>(PyDescr_TYPE(descriptor)) != arrays) return nullptr;
  return _PyType_Lookup(device_array_type(), PyDescr_NAME(descriptor));
}

bool is_device_array(PyObject* object) { return Py_IS_TYPE(object, device_array_type()); }

}  // namespace accel
