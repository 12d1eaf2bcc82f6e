#include "device_array/indexing.h"

#include <algorithm>

#include "device_array/guests.h"
#include "device_array/transfer.h"

namespace accel {
namespace {

// A key of basic indexing that selects a view: with an Ellipsis at its end unless it has one, as NumPy makes scalars of
// integers alone.
struct BasicKey {
  PyRef tuple;
  bool selects_element = false;  // as many integers as axes, and nothing else
};

bool is_integer_array(PyObject* object) {
  if (!is_array(object) && !is_device_array(object)) return false;
  ArrayFacts facts = array_facts(object);
  return facts.ndim == 0 && facts.dtype && is_integer_dtype(*facts.dtype);
}

bool is_boolean(PyObject* object) { return PyBool_Check(object) || dtype_of_scalar(object) == DType::bool_; }

bool is_advanced(PyObject* part) {
  if (is_integer_array(part)) return false;
  return is_boolean(part) || is_array(part) || is_device_array(part) || PyList_Check(part) || PyTuple_Check(part) ||
         may_be_guest(part);
}

// Whether the key selects elements, not a view.
bool is_advanced_key(PyObject* key) {
  if (!PyTuple_Check(key)) return is_advanced(key);
  PyObject* const* parts = PySequence_Fast_ITEMS(key);
  return std::any_of(parts, parts + PyTuple_GET_SIZE(key), is_advanced);
}

// One part of a key as basic indexing takes it. Null with an exception.
PyRef basic_part(PyObject* part) {
  if (part == Py_None || part == Py_Ellipsis || PySlice_Check(part) || PyLong_CheckExact(part)) return PyRef::borrow(part);
  if (is_integer_array(part)) return PyRef::steal(PyNumber_Index(part));
  return PyIndex_Check(part) ? PyRef::steal(PyNumber_Index(part)) : PyRef::borrow(part);  // NumPy rejects other objects
}

BasicKey basic_key(PyObject* array, PyObject* key) {
  PyRef parts = PyTuple_Check(key) ? PyRef::borrow(key) : PyRef::steal(PyTuple_Pack(1, key));
  BasicKey out;
  if (!parts) return out;
  Py_ssize_t count = PyTuple_GET_SIZE(parts.get()), integers = 0;
  bool has_ellipsis = false;
  PyRef list = PyRef::steal(PyList_New(0));
  for (Py_ssize_t i = 0; list && i < count; i++) {
    PyRef part = basic_part(PyTuple_GET_ITEM(parts.get(), i));
    if (!part || PyList_Append(list.get(), part.get()) < 0) return out;
    has_ellipsis |= part.get() == Py_Ellipsis;
    integers += PyLong_Check(part.get());
  }
  if (!list || (!has_ellipsis && PyList_Append(list.get(), Py_Ellipsis) < 0)) return out;
  out.selects_element = !has_ellipsis && integers == count && integers == as_device(array)->fields.rank;
  out.tuple = PyRef::steal(PyList_AsTuple(list.get()));
  return out;
}

PyObject* view_at(PyObject* array, const BasicKey& key) {
  PyRef unreadable = PyRef::steal(key.tuple ? new_unreadable_array(as_device(array)->fields) : nullptr);
  PyRef selected = PyRef::steal(unreadable ? PyObject_GetItem(unreadable.get(), key.tuple.get()) : nullptr);
  return selected ? view_with_layout(array, selected.get()) : nullptr;
}

// The element with a number in C order. Null with an exception.
PyObject* element_at(PyObject* array, int64_t number) {
  std::span<const int64_t> dims = dims_of(array), strides = strides_of(array);
  int64_t count = element_count(dims);
  if (number < -count || number >= count) {
    return PyErr_Format(PyExc_IndexError, "index %lld is out of bounds for size %lld", static_cast<long long>(number),
                        static_cast<long long>(count));
  }
  if (number < 0) number += count;
  const char* data = data_of(array);
  for (size_t axis = dims.size(); axis-- > 0; number /= dims[axis]) data += number % dims[axis] * strides[axis];
  return read_element(array, data);
}

// The element that the arguments of item() select, as a NumPy scalar.
PyObject* selected_element(PyObject* array, PyObject* arguments) {
  Py_ssize_t count = PyTuple_GET_SIZE(arguments);
  if (count == 0) {
    if (element_count(dims_of(array)) == 1) return read_element(array, data_of(array));
    PyErr_SetString(PyExc_ValueError, "can only convert an array of size 1 to a Python scalar");
    return nullptr;
  }
  PyObject* first = PyTuple_GET_ITEM(arguments, 0);
  bool is_tuple = count == 1 && PyTuple_Check(first);
  PyObject* index = is_tuple ? first : arguments;
  if (count == 1 && !is_tuple) {
    int64_t number = PyNumber_AsSsize_t(first, PyExc_IndexError);
    return number == -1 && PyErr_Occurred() ? nullptr : element_at(array, number);
  }
  if (PyTuple_GET_SIZE(index) != as_device(array)->fields.rank) {
    PyErr_SetString(PyExc_ValueError, "incorrect number of indices for array");
    return nullptr;
  }
  return device_subscript(array, index);
}

}  // namespace

PyObject* device_subscript(PyObject* array, PyObject* key) {
  if (is_advanced_key(key)) return call_device_function("select", {array, key});
  BasicKey basic = basic_key(array, key);
  PyRef view = PyRef::steal(view_at(array, basic));
  if (!view || !basic.selects_element) return view.release();
  return read_element(array, data_of(view.get()));
}

int assign_device_subscript(PyObject* array, PyObject* key, PyObject* value) {
  if (value == nullptr) {
    PyErr_SetString(PyExc_ValueError, "cannot delete array elements");
    return -1;
  }
  if (is_advanced_key(key)) return PyRef::steal(call_device_function("store_selected", {array, key, value})) ? 0 : -1;
  BasicKey basic = basic_key(array, key);
  PyRef view = PyRef::steal(view_at(array, basic));
  if (!view) return -1;
  return (basic.selects_element ? store_element(view.get(), value) : store(view.get(), value)) ? 0 : -1;
}

PyObject* device_item(PyObject* array, Py_ssize_t index) {
  PyRef key = PyRef::steal(PyLong_FromSsize_t(index));
  return key ? device_subscript(array, key.get()) : nullptr;
}

PyObject* device_array_item(PyObject* array, PyObject* arguments) {
  PyRef scalar = PyRef::steal(selected_element(array, arguments));
  return scalar ? PyObject_CallMethod(scalar.get(), "item", nullptr) : nullptr;
}

}  // namespace accel
