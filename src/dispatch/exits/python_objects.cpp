#include "dispatch/exits/python_objects.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "cpython/py_ref.h"
#include "device_array/device_array.h"
#include "guard/guard_test.h"
#include "ndarray/array.h"

namespace accel {

namespace {

bool is_same_number(PyObject* a, PyObject* b) {
  if (a == b || same_constant(a, b)) return true;
  const std::optional<DType> dtype = Py_IS_TYPE(a, Py_TYPE(b)) && is_numpy_scalar(a) ? dtype_of_scalar(a) : std::nullopt;
  uint64_t left[2] = {0, 0}, right[2] = {0, 0};
  return dtype && read_scalar(a, *dtype, left) && read_scalar(b, *dtype, right) && std::equal(left, left + 2, right);
}

}  // namespace

PyObject* selected_number(const std::vector<int>& parts, PyObject* const* objects) {
  PyObject* made = objects[parts[0]];
  for (size_t k = 1; k < parts.size(); ++k) {
    PyObject* candidate = objects[parts[k]];
    if (candidate != nullptr && is_same_number(candidate, made)) return Py_NewRef(candidate);
  }
  return Py_XNewRef(made);
}

PyObject* new_tuple(const std::vector<int>& parts, PyObject* const* objects) {
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(parts.size()));
  if (tuple == nullptr) return nullptr;
  for (size_t i = 0; i < parts.size(); i++) PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), Py_XNewRef(objects[parts[i]]));
  return tuple;
}

PyObject* new_list(const std::vector<int>& parts, PyObject* const* objects) {
  PyObject* list = PyList_New(static_cast<Py_ssize_t>(parts.size()));
  if (list == nullptr) return nullptr;
  for (size_t i = 0; i < parts.size(); i++) PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), Py_XNewRef(objects[parts[i]]));
  return list;
}

namespace {

int64_t row_bytes(const ArrayFacts& rows) {
  int64_t bytes = item_size(*rows.dtype);
  for (int k = 1; k < rows.ndim; k++) bytes *= rows.dims[k];
  return bytes;
}

PyObject* new_number(DType dtype, const char* data, ValueKind kind) {
  return kind == ValueKind::py_scalar ? new_python_scalar(dtype, data) : new_numpy_scalar(dtype, data);
}

PyObject* new_list_of_numbers(DType dtype, int64_t count, const char* data, ValueKind kind) {
  PyRef list = PyRef::steal(PyList_New(static_cast<Py_ssize_t>(count)));
  for (int64_t k = 0; list && k < count; k++) {
    PyObject* number = new_number(dtype, data + k * item_size(dtype), kind);
    if (number == nullptr) return nullptr;
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(k), number);
  }
  return list.release();
}

PyObject* new_row(const ArrayFacts& rows, const char* data, ValueKind kind) {
  if (kind != ValueKind::array && rows.ndim > 1) return new_list_of_numbers(*rows.dtype, rows.dims[1], data, kind);
  if (kind != ValueKind::array) return new_number(*rows.dtype, data, kind);
  PyObject* row = new_array(*rows.dtype, {rows.dims + 1, static_cast<size_t>(rows.ndim - 1)}, {});
  if (row != nullptr) std::memcpy(array_data(row), data, static_cast<size_t>(row_bytes(rows)));
  return row;
}

// Sets annotations, given as a dict or, as MAKE_FUNCTION gets them, as a tuple of alternating names and annotations.
bool set_annotations(PyObject* function, PyObject* annotations) {
  if (PyFunction_Check(annotations))  // that computes them, since 3.14
    return PyObject_SetAttrString(function, "__annotate__", annotations) == 0;
  if (!PyTuple_CheckExact(annotations)) return PyFunction_SetAnnotations(function, annotations) == 0;
  PyRef dict = PyRef::steal(PyDict_New());
  if (!dict) return false;
  for (Py_ssize_t k = 0; k + 1 < PyTuple_GET_SIZE(annotations); k += 2)
    if (PyDict_SetItem(dict.get(), PyTuple_GET_ITEM(annotations, k), PyTuple_GET_ITEM(annotations, k + 1)) != 0) return false;
  return PyFunction_SetAnnotations(function, dict.get()) == 0;
}

// A row of an array on a device, with memory of its own.
PyObject* new_row_on_device(PyObject* array, int64_t number) {
  PyRef index = PyRef::steal(Py_BuildValue("(LO)", static_cast<long long>(number), Py_Ellipsis));
  PyRef view = PyRef::steal(index ? PyObject_GetItem(array, index.get()) : nullptr);
  return view ? PyObject_CallMethod(view.get(), "copy", nullptr) : nullptr;
}

}  // namespace

PyObject* new_list_of_rows(PyObject* made, ValueKind kind, const std::vector<int>& parts, PyObject* const* objects) {
  const bool stays_on_device = is_device_array(made) && kind == ValueKind::array;
  PyRef array = is_device_array(made) && !stays_on_device ? PyRef::steal(to_host(made)) : PyRef::borrow(made);
  if (!array) return nullptr;
  ArrayFacts rows = array_facts(array.get());
  PyRef list = PyRef::steal(PyList_New(static_cast<Py_ssize_t>(rows.dims[0]) + static_cast<Py_ssize_t>(parts.size())));
  const char* data = stays_on_device ? nullptr : static_cast<const char*>(array_data(array.get()));
  for (int64_t k = 0; list && k < rows.dims[0]; k++) {
    PyObject* row = stays_on_device ? new_row_on_device(array.get(), k) : new_row(rows, data + k * row_bytes(rows), kind);
    if (row == nullptr) return nullptr;
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(k), row);
  }
  for (size_t i = 0; list && i < parts.size(); i++)
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(rows.dims[0]) + static_cast<Py_ssize_t>(i),
                    Py_NewRef(objects[parts[i]]));
  return list.release();
}

PyObject* new_list_of_sequences(RecipeKind kind, size_t columns, const std::vector<int>& parts, PyObject* const* objects) {
  const bool tuples = kind == RecipeKind::list_of_tuples;
  const Py_ssize_t rows = PyList_GET_SIZE(objects[parts[0]]);
  PyRef list = PyRef::steal(PyList_New(rows + static_cast<Py_ssize_t>(parts.size() - columns)));
  for (Py_ssize_t row = 0; list && row < rows; row++) {
    auto count = static_cast<Py_ssize_t>(columns);
    PyObject* sequence = tuples ? PyTuple_New(count) : PyList_New(count);
    if (sequence == nullptr) return nullptr;
    for (Py_ssize_t k = 0; k < count; k++) {
      PyObject* item = Py_NewRef(PyList_GET_ITEM(objects[parts[static_cast<size_t>(k)]], row));
      tuples ? PyTuple_SET_ITEM(sequence, k, item) : PyList_SET_ITEM(sequence, k, item);
    }
    PyList_SET_ITEM(list.get(), row, sequence);
  }
  for (size_t k = columns; list && k < parts.size(); k++)
    PyList_SET_ITEM(list.get(), rows + static_cast<Py_ssize_t>(k - columns), Py_NewRef(objects[parts[k]]));
  return list.release();
}

PyObject* new_dict(const std::vector<int>& parts, PyObject* const* objects) {
  PyRef dict = PyRef::steal(PyDict_New());
  for (size_t i = 0; dict && i + 1 < parts.size(); i += 2) {
    if (PyDict_SetItem(dict.get(), objects[parts[i]], objects[parts[i + 1]]) < 0) return nullptr;
  }
  return dict.release();
}

PyObject* new_instance(PyObject* type, const std::vector<int>& parts, PyObject* const* objects) {
  PyRef none = PyRef::steal(PyTuple_New(0));
  PyRef made =
      PyRef::steal(none ? PyBaseObject_Type.tp_new(reinterpret_cast<PyTypeObject*>(type), none.get(), nullptr) : nullptr);
  for (size_t k = 0; made && k < parts.size(); k += 2) {
    if (PyObject_GenericSetAttr(made.get(), objects[parts[k]], objects[parts[k + 1]]) < 0) return nullptr;
  }
  return made.release();
}

bool perform(const std::vector<StoreRecipe>& stores, PyObject* const* objects) {
  for (const StoreRecipe& store : stores) {
    bool item = store.kind == StoreRecipe::Kind::item;
    auto set = item ? PyObject_SetItem : PyObject_GenericSetAttr;
    if (set(objects[store.object], objects[store.name], objects[store.value]) < 0) return false;
  }
  return true;
}

PyObject* new_iterator(PyObject* iterable, int count) {
  PyRef iterator = PyRef::steal(PyObject_GetIter(iterable));
  for (int i = 0; iterator && i < count; i++) {
    PyRef item = PyRef::steal(PyIter_Next(iterator.get()));
    if (!item) {
      if (!PyErr_Occurred()) break;  // exhausted, so the new iterator is, too
      return nullptr;
    }
  }
  return iterator.release();
}

PyObject* new_iterator_at(PyObject* iterable, PyObject* index) {
  PyRef iterator = PyRef::steal(PyObject_GetIter(iterable));
  PyRef none = PyRef::steal(iterator ? PyObject_CallMethod(iterator.get(), "__setstate__", "O", index) : nullptr);
  return none ? iterator.release() : nullptr;
}

PyObject* new_method(PyObject* callable, PyObject* self) {
  if (is_device_array(self)) {
    if (PyObject* own = method_of_device_arrays(callable)) callable = own;
  }
  PyTypeObject* type = Py_TYPE(callable);
  bool built_in = type == &PyMethodDescr_Type || type == &PyWrapperDescr_Type;
  if (!built_in) return PyMethod_New(callable, self);
  return type->tp_descr_get(callable, self, reinterpret_cast<PyObject*>(Py_TYPE(self)));
}

PyObject* new_call(PyObject* callable, const std::vector<int>& parts, PyObject* const* objects) {
  std::vector<PyObject*> arguments;
  for (int part : parts) arguments.push_back(objects[part]);
  return PyObject_Vectorcall(callable, arguments.data(), arguments.size(), nullptr);
}

PyObject* new_function(PyObject* code, const std::array<PyObject*, 5>& parts) {
  auto [globals, defaults, kwdefaults, closure, annotations] = parts;
  PyRef function = PyRef::steal(PyFunction_New(code, globals));
  if (!function) return nullptr;
  PyObject* made = function.get();
  bool ok = (defaults == nullptr || PyFunction_SetDefaults(made, defaults) == 0) &&
            (kwdefaults == nullptr || PyFunction_SetKwDefaults(made, kwdefaults) == 0) &&
            (closure == nullptr || PyFunction_SetClosure(made, closure) == 0) &&
            (annotations == nullptr || set_annotations(made, annotations));
  return ok ? function.release() : nullptr;
}

}  // namespace accel
