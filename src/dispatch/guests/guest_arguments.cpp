#include "dispatch/guests/guest_arguments.h"

#include <algorithm>
#include <utility>

#include "device_array/guests.h"
#include "dispatch/signals/interrupt.h"

namespace accel {
namespace {

// Containers that are longer or nested more deeply are passed on as they are.
constexpr Py_ssize_t most_items = 4096;
constexpr int deepest = 16;

bool is_named_tuple(PyObject* object) {
  return PyTuple_Check(object) && !PyTuple_CheckExact(object) && PyObject_HasAttrString(object, "_fields") == 1;
}

}  // namespace

// ---- Before the call

bool GuestArguments::take(PyObject* const* args, Py_ssize_t count) {
  if (std::none_of(args, args + count, [&](PyObject* object) { return has_guest(object, 0); })) return true;
  for (Py_ssize_t i = 0; i < count; i++) {
    PyRef passed = substitute(args[i], 0);
    if (!passed) return false;
    args_.push_back(passed.get());
    held_.push_back(std::move(passed));
  }
  return true;
}

bool GuestArguments::has_guest(PyObject* object, int depth) const {
  auto any = [&](PyObject* const* items, Py_ssize_t count) {
    return depth < deepest && count <= most_items &&
           std::any_of(items, items + count, [&](PyObject* item) { return has_guest(item, depth + 1); });
  };
  if (PyList_CheckExact(object)) return any(PySequence_Fast_ITEMS(object), PyList_GET_SIZE(object));
  if (PyTuple_CheckExact(object)) return any(PySequence_Fast_ITEMS(object), PyTuple_GET_SIZE(object));
  if (!PyDict_CheckExact(object)) return may_be_guest(object);
  if (depth >= deepest || PyDict_GET_SIZE(object) > most_items) return false;
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(object, &at, &key, &value);) {
    if (has_guest(value, depth + 1)) return true;
  }
  return false;
}

void GuestArguments::note(PyObject* original, PyObject* standing_in) {
  held_.push_back(PyRef::borrow(original));
  held_.push_back(PyRef::borrow(standing_in));
  by_original_[original] = standing_in;
  by_substitute_[standing_in] = original;
}

// What the call gets for an object. Null with an exception.
PyRef GuestArguments::substitute(PyObject* object, int depth) {
  if (auto known = by_original_.find(object); known != by_original_.end()) return PyRef::borrow(known->second);
  if (is_device_array(object)) note(object, object);
  if (!has_guest(object, depth)) return PyRef::borrow(object);
  if (PyList_CheckExact(object)) return substitute_list(object, depth);
  if (PyTuple_CheckExact(object)) return substitute_tuple(object, depth);
  return PyDict_CheckExact(object) ? substitute_dict(object, depth) : substitute_guest(object);
}

PyRef GuestArguments::substitute_guest(PyObject* object) {
  PyRef array = PyRef::steal(wrap_guest(object));
  if (!array) {
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) return {};
    PyErr_Clear();
    return PyRef::borrow(object);
  }
  if (first_kind_ == nullptr) first_kind_ = reinterpret_cast<PyObject*>(Py_TYPE(object));
  note(object, array.get());
  guests_.emplace_back(object, array.get());
  return array;
}

PyRef GuestArguments::substitute_list(PyObject* list, int depth) {
  PyRef copy = PyRef::steal(PyList_GetSlice(list, 0, PyList_GET_SIZE(list)));
  if (!copy) return {};
  note(list, copy.get());
  containers_.emplace_back(list, copy.get());
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(copy.get()); i++) {
    PyRef item = substitute(PyList_GET_ITEM(copy.get(), i), depth + 1);
    if (!item || PyList_SetItem(copy.get(), i, item.release()) < 0) return {};
  }
  return copy;
}

PyRef GuestArguments::substitute_tuple(PyObject* tuple, int depth) {
  PyRef copy = PyRef::steal(PyTuple_New(PyTuple_GET_SIZE(tuple)));
  for (Py_ssize_t i = 0; copy && i < PyTuple_GET_SIZE(tuple); i++) {
    PyRef item = substitute(PyTuple_GET_ITEM(tuple, i), depth + 1);
    if (!item) return {};
    PyTuple_SET_ITEM(copy.get(), i, item.release());
  }
  if (copy) note(tuple, copy.get());
  return copy;
}

PyRef GuestArguments::substitute_dict(PyObject* dict, int depth) {
  PyRef copy = PyRef::steal(PyDict_Copy(dict));
  if (!copy) return {};
  note(dict, copy.get());
  containers_.emplace_back(dict, copy.get());
  PyRef items = PyRef::steal(PyDict_Items(copy.get()));
  for (Py_ssize_t i = 0; items && i < PyList_GET_SIZE(items.get()); i++) {
    PyObject* pair = PyList_GET_ITEM(items.get(), i);
    PyRef value = substitute(PyTuple_GET_ITEM(pair, 1), depth + 1);
    if (!value || PyDict_SetItem(copy.get(), PyTuple_GET_ITEM(pair, 0), value.get()) < 0) return {};
  }
  return items ? std::move(copy) : PyRef();
}

// ---- After the call

PyObject* GuestArguments::give_back(PyObject* result) {
  PyRef from = PyRef::steal(result), to;
  if (from) {
    to = returned(from.get(), 0);
    from = PyRef();
    if (!to || !give_back_containers() || !order_guests()) return nullptr;
    return to.release();
  }
  SavedException raised;
  if (!give_back_containers() || !order_guests()) PyErr_Clear();
  return nullptr;
}

// What the caller gets for an object. Null with an exception.
PyRef GuestArguments::returned(PyObject* object, int depth) {
  if (auto known = by_substitute_.find(object); known != by_substitute_.end()) return PyRef::borrow(known->second);
  if (is_device_array(object)) {
    PyRef made = PyRef::steal(unwrap_as(first_kind_, object));
    gives_guests_ = true;
    if (made) note(made.get(), object);
    return made;
  }
  if (depth >= deepest) return PyRef::borrow(object);
  if (PyList_CheckExact(object)) return returned_list(object, depth);
  if (PyDict_CheckExact(object)) return returned_dict(object, depth);
  return PyTuple_CheckExact(object) || is_named_tuple(object) ? returned_tuple(object, depth) : PyRef::borrow(object);
}

// Lists and dicts that nothing else refers to are changed themselves.
PyRef GuestArguments::returned_list(PyObject* list, int depth) {
  PyRef out = PyRef::borrow(list);
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
    PyRef item = returned(PyList_GET_ITEM(list, i), depth + 1);
    if (!item) return {};
    if (item.get() == PyList_GET_ITEM(list, i)) continue;
    if (out.get() == list && Py_REFCNT(list) > 2) out = PyRef::steal(PyList_GetSlice(list, 0, PyList_GET_SIZE(list)));
    if (!out || PyList_SetItem(out.get(), i, item.release()) < 0) return {};
  }
  return out;
}

PyRef GuestArguments::returned_dict(PyObject* dict, int depth) {
  PyRef out = PyRef::borrow(dict), items = PyRef::steal(PyDict_Items(dict));
  for (Py_ssize_t i = 0; items && i < PyList_GET_SIZE(items.get()); i++) {
    PyObject *pair = PyList_GET_ITEM(items.get(), i), *before = PyTuple_GET_ITEM(pair, 1);
    PyRef value = returned(before, depth + 1);
    if (!value) return {};
    if (value.get() == before) continue;
    if (out.get() == dict && Py_REFCNT(dict) > 2) out = PyRef::steal(PyDict_Copy(dict));
    if (!out || PyDict_SetItem(out.get(), PyTuple_GET_ITEM(pair, 0), value.get()) < 0) return {};
  }
  return items ? std::move(out) : PyRef();
}

PyRef GuestArguments::returned_tuple(PyObject* tuple, int depth) {
  PyRef items = PyRef::steal(PySequence_List(tuple));
  bool is_changed = false;
  for (Py_ssize_t i = 0; items && i < PyList_GET_SIZE(items.get()); i++) {
    PyRef item = returned(PyTuple_GET_ITEM(tuple, i), depth + 1);
    if (!item) return {};
    is_changed |= item.get() != PyTuple_GET_ITEM(tuple, i);
    if (PyList_SetItem(items.get(), i, item.release()) < 0) return {};
  }
  if (!items || !is_changed) return items ? PyRef::borrow(tuple) : PyRef();
  if (PyTuple_CheckExact(tuple)) return PyRef::steal(PyList_AsTuple(items.get()));
  return PyRef::steal(PyObject_CallMethod(reinterpret_cast<PyObject*>(Py_TYPE(tuple)), "_make", "O", items.get()));
}

// Makes the changes of the call to lists and dicts that it got copies of. False with an exception.
bool GuestArguments::give_back_containers() {
  for (const auto& [original, standing_in] : containers_) {
    bool is_done = PyList_CheckExact(original) ? give_back_list(original, standing_in) : give_back_dict(original, standing_in);
    if (!is_done) return false;
  }
  return true;
}

bool GuestArguments::give_back_list(PyObject* original, PyObject* standing_in) {
  PyRef items = PyRef::steal(PyList_New(0));
  for (Py_ssize_t i = 0; items && i < PyList_GET_SIZE(standing_in); i++) {
    PyRef item = returned(PyList_GET_ITEM(standing_in, i), 1);
    if (!item || PyList_Append(items.get(), item.get()) < 0) return false;
  }
  if (!items) return false;
  bool is_same = PyList_GET_SIZE(items.get()) == PyList_GET_SIZE(original);
  for (Py_ssize_t i = 0; is_same && i < PyList_GET_SIZE(original); i++)
    is_same = PyList_GET_ITEM(items.get(), i) == PyList_GET_ITEM(original, i);
  return is_same || PyList_SetSlice(original, 0, PyList_GET_SIZE(original), items.get()) == 0;
}

bool GuestArguments::give_back_dict(PyObject* original, PyObject* standing_in) {
  PyRef wanted = PyRef::steal(PyDict_New());
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; wanted && PyDict_Next(standing_in, &at, &key, &value);) {
    PyRef item = returned(value, 1);
    if (!item || PyDict_SetItem(wanted.get(), key, item.get()) < 0) return false;
  }
  if (!wanted) return false;
  Py_ssize_t at = 0, other_at = 0;
  PyObject *other_key = nullptr, *other = nullptr;
  bool is_same = PyDict_GET_SIZE(wanted.get()) == PyDict_GET_SIZE(original);
  while (is_same && PyDict_Next(wanted.get(), &at, &key, &value) && PyDict_Next(original, &other_at, &other_key, &other))
    is_same = key == other_key && value == other;
  if (is_same) return true;
  PyDict_Clear(original);
  return PyDict_Update(original, wanted.get()) == 0;
}

// Work of the guests' libraries comes after that of the call, which may write to the guests and may read them still.
bool GuestArguments::order_guests() {
  for (const auto& [guest, array] : guests_) {
    if (!order_guest_after(guest, array, gives_guests_)) return false;
  }
  return true;
}

}  // namespace accel
