#include "dispatch/calls/replaced_values.h"

#include <algorithm>

#include "dispatch/signals/interrupt.h"
#include "guard/fetch.h"

namespace accel {

PyObject* stored_value(StoreRecipe::Kind kind, PyObject* object, PyObject* name) {
  if (kind == StoreRecipe::Kind::attribute) return fetch_attribute(object, name);
  return PyList_CheckExact(object) ? fetch_item(object, PyLong_AsLongLong(name)) : fetch_dict_item(object, name);
}

// A later store keeps the value from before the first one, as guards were checked with that.
void note_replaced(const std::vector<StoreRecipe>& stores, PyObject* const* objects, std::vector<Replaced>& replaced) {
  for (const StoreRecipe& store : stores) {
    PyObject *object = objects[static_cast<size_t>(store.object)], *name = objects[static_cast<size_t>(store.name)];
    auto known = std::find_if(replaced.begin(), replaced.end(),
                              [&](const Replaced& each) { return each.object.get() == object && each.name.get() == name; });
    if (known == replaced.end()) {
      PyRef before = PyRef::borrow(stored_value(store.kind, object, name));
      known = replaced.insert(known, {PyRef::borrow(object), PyRef::borrow(name), {}, std::move(before)});
    }
    known->now = PyRef::borrow(objects[static_cast<size_t>(store.value)]);
  }
}

void put_back(const std::vector<Replaced>& replaced) {
  const SavedException current;
  for (const Replaced& each : replaced) {
    PyObject *object = each.object.get(), *name = each.name.get(), *before = each.before.get();
    int status = 0;
    if (PyList_CheckExact(object))
      status = PyList_SetItem(object, PyLong_AsSsize_t(name), Py_XNewRef(before));
    else if (PyDict_CheckExact(object))
      status = before != nullptr ? PyDict_SetItem(object, name, before) : PyDict_DelItem(object, name);
    else
      status = PyObject_SetAttr(object, name, before);
    if (status < 0) PyErr_WriteUnraisable(object);
  }
}

}  // namespace accel
