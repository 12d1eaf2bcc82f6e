#include "device_array/views.h"

#include "device_array/layout.h"
#include "device_array/transfer.h"

namespace accel {
namespace {

// A result of NumPy with `array` in place of `stand_in`, and with views of `array` in place of other ndarrays.
PyObject* views_with_layouts(PyObject* array, PyObject* stand_in, PyRef result) {
  if (!result) return nullptr;
  if (result.get() == stand_in) return Py_NewRef(array);
  if (is_exact_array(result.get())) return view_with_layout(array, result.get());
  if (!PyList_Check(result.get()) && !PyTuple_Check(result.get())) return result.release();
  PyRef list = PyRef::steal(PySequence_List(result.get()));
  for (Py_ssize_t i = 0; list && i < PyList_GET_SIZE(list.get()); i++) {
    PyObject* view = views_with_layouts(array, stand_in, PyRef::borrow(PyList_GET_ITEM(list.get(), i)));
    if (view == nullptr || PyList_SetItem(list.get(), i, view) < 0) return nullptr;
  }
  return list && PyTuple_Check(result.get()) ? PyList_AsTuple(list.get()) : list.release();
}

PyRef unreadable(PyObject* array) { return PyRef::steal(new_unreadable_array(as_device(array)->fields)); }

PyRef method_of(PyObject* object, const char* name) { return PyRef::steal(PyObject_GetAttrString(object, name)); }

// The keyword `name`, or null. Borrowed.
PyObject* keyword(PyObject* keywords, const char* name) {
  return keywords != nullptr ? PyDict_GetItemString(keywords, name) : nullptr;
}

// An unreadable view of `array` with another shape, if it needs no copy.
PyRef reshaped(const PyRef& array, PyObject* arguments, PyObject* keywords) {
  PyRef all = PyRef::steal(keywords != nullptr ? PyDict_Copy(keywords) : PyDict_New());
  if (!array || !all || PyDict_SetItemString(all.get(), "copy", Py_False) < 0) return {};
  PyRef method = method_of(array.get(), "reshape");
  return PyRef::steal(method ? PyObject_Call(method.get(), arguments, all.get()) : nullptr);
}

// An unreadable array with the layout that a copy of `array` would have.
PyRef unreadable_copy(PyObject* array, char order) {
  std::vector<int64_t> strides = dense_strides(dtype_of(array), dims_of(array), order_of_copy(array, order));
  return PyRef::steal(new_array_over(dtype_of(array), dims_of(array), strides, data_of(array)));
}

PyObject* reshaped_copy(PyObject* array, char order, PyObject* arguments, PyObject* keywords) {
  if (!reshaped(unreadable_copy(array, order), arguments, keywords)) return nullptr;
  PyRef copy = PyRef::steal(copy_on_device(array, order));
  PyRef layout = copy ? reshaped(unreadable(copy.get()), arguments, keywords) : PyRef();
  return layout ? view_with_layout(copy.get(), layout.get()) : nullptr;
}

// The one argument `order` of copy(), ravel() and flatten(); C by default.
std::optional<char> only_order(PyObject* arguments, PyObject* keywords, const char* format) {
  static char name[] = "order";
  static char* names[] = {name, nullptr};
  PyObject* order = Py_None;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, format, names, &order)) return std::nullopt;
  return order_from_python(order);
}

PyObject* flattened_copy(PyObject* array, char order) {
  PyRef copy = PyRef::steal(copy_on_device(array, order));
  if (!copy) return nullptr;
  int64_t count = element_count(dims_of(array)), step = item_size(dtype_of(array));
  return new_device_array(dtype_of(array), {&count, 1}, {&step, 1}, block_of(copy.get()), data_of(copy.get()));
}

}  // namespace

PyObject* rearranged(PyObject* function, PyObject* array, PyObject* arguments, PyObject* keywords) {
  PyRef all = PyRef::steal(PyTuple_New(PyTuple_GET_SIZE(arguments) + 1));
  PyRef first = unreadable(array);
  if (!all || !first) return nullptr;
  PyTuple_SET_ITEM(all.get(), 0, Py_NewRef(first.get()));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(arguments); i++) {
    PyObject* argument = PyTuple_GET_ITEM(arguments, i);
    PyRef passed = is_device_array(argument) ? unreadable(argument) : PyRef::borrow(argument);
    if (!passed) return nullptr;
    PyTuple_SET_ITEM(all.get(), i + 1, passed.release());
  }
  return views_with_layouts(array, first.get(), PyRef::steal(PyObject_Call(function, all.get(), keywords)));
}

PyObject* call_view_method(const char* name, PyObject* array, PyObject* arguments, PyObject* keywords) {
  PyRef first = unreadable(array);
  PyRef method = first ? method_of(first.get(), name) : PyRef();
  if (!method) return nullptr;
  return views_with_layouts(array, first.get(), PyRef::steal(PyObject_Call(method.get(), arguments, keywords)));
}

PyObject* view_attribute(PyObject* array, const char* name) {
  PyRef first = unreadable(array);
  if (!first) return nullptr;
  return views_with_layouts(array, first.get(), PyRef::steal(PyObject_GetAttrString(first.get(), name)));
}

PyObject* device_array_reshape(PyObject* array, PyObject* arguments, PyObject* keywords) {
  PyObject* copy = keyword(keywords, "copy");
  int copies = copy != nullptr && copy != Py_None ? PyObject_IsTrue(copy) : -1;  // -1: if need be
  if (PyErr_Occurred()) return nullptr;
  if (copies != 1) {
    PyRef view = reshaped(unreadable(array), arguments, keywords);
    if (view) return view_with_layout(array, view.get());
    if (copies == 0 || !PyErr_ExceptionMatches(PyExc_ValueError)) return nullptr;
    PyErr_Clear();
  }
  PyObject* order = keyword(keywords, "order");
  std::optional<char> letter = order != nullptr ? order_from_python(order) : 'C';
  return letter ? reshaped_copy(array, *letter, arguments, keywords) : nullptr;
}

PyObject* device_array_ravel(PyObject* array, PyObject* arguments, PyObject* keywords) {
  std::optional<char> order = only_order(arguments, keywords, "|O:ravel");
  if (!order) return nullptr;
  ArrayLayout layout = array_layout(array);
  bool in_order = (*order != 'F' && layout.c_contiguous) || (*order != 'C' && layout.f_contiguous) ||
                  (*order == 'K' && dense_order(dims_of(array), strides_of(array), item_size(dtype_of(array))));
  if (!in_order) return flattened_copy(array, *order);
  int64_t count = element_count(dims_of(array)), step = item_size(dtype_of(array));
  return new_device_view(array, dtype_of(array), {&count, 1}, {&step, 1}, data_of(array));
}

PyObject* device_array_flatten(PyObject* array, PyObject* arguments, PyObject* keywords) {
  std::optional<char> order = only_order(arguments, keywords, "|O:flatten");
  return order ? flattened_copy(array, *order) : nullptr;
}

PyObject* device_array_copy(PyObject* array, PyObject* arguments, PyObject* keywords) {
  std::optional<char> order = only_order(arguments, keywords, "|O:copy");
  return order ? copy_on_device(array, *order) : nullptr;
}

}  // namespace accel
