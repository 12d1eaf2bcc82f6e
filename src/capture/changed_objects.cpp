#include "capture/changed_objects.h"

#include <algorithm>

#include "capture/capture.h"

namespace accel {

// Objects of two types are two objects.
void ChangedObjects::keep_apart(const Ref& left, const Ref& right) {
  PyObject *one = left->object.get(), *other = right->object.get();
  if (left == right || Py_TYPE(one) != Py_TYPE(other)) return;
  if (one == other) {
    plan_.forget_numbering();
    plan_.same.insert(std::minmax(sources_.text(left->source), sources_.text(right->source)));
    throw Restart{};
  }
  sources_.guard_memory(GuardKind::same, left->source, right->source, false);
}

void ChangedObjects::meet(const Ref& object) {
  if (std::find(met_.begin(), met_.end(), object) != met_.end()) return;
  for (const Ref& changed : changed_) keep_apart(changed, object);
  met_.push_back(object);
}

void ChangedObjects::change(const Ref& object) {
  if (!came_.try_emplace(object->source, *object).second) return;
  for (const Ref& other : met_) keep_apart(object, other);
  auto before = [](const Ref& left, const Ref& right) { return left->source < right->source; };
  changed_.insert(std::upper_bound(changed_.begin(), changed_.end(), object, before), object);
}

const AbstractValue& ChangedObjects::as_it_came(const Ref& object) const {
  auto found = came_.find(object->source);
  return found == came_.end() ? *object : found->second;
}

void ChangedObjects::guard_length(const Ref& dict) {
  if (dict->source >= 0) sources_.guard_length(dict->source, static_cast<int64_t>(as_it_came(dict).items.size()));
}

void ChangedObjects::guard_keys(const Ref& dict) {
  if (dict->source >= 0) sources_.guard_keys(dict->source, as_it_came(dict).keys);
}

std::vector<std::pair<PyRef, Ref>> ChangedObjects::stores_of(const Ref& object) const {
  const AbstractValue& came = as_it_came(object);
  std::vector<std::pair<PyRef, Ref>> stores;
  for (size_t i = 0; i < object->keys.size(); ++i) {
    auto at = std::find_if(came.keys.begin(), came.keys.end(),
                           [&](const PyRef& key) { return key.get() == object->keys[i].get(); });
    bool kept = at != came.keys.end() && came.items[static_cast<size_t>(at - came.keys.begin())] == object->items[i];
    if (!kept) stores.emplace_back(object->keys[i], object->items[i]);
  }
  return stores;
}

bool ChangedObjects::has_stores() const {
  return std::any_of(changed_.begin(), changed_.end(), [&](const Ref& object) { return !stores_of(object).empty(); });
}

void ChangedObjects::forget(const std::set<const AbstractValue*>& kept) {
  for (const Ref& object : changed_) {
    if (!kept.contains(object.get())) *object = as_it_came(object);
  }
}

std::optional<size_t> own_attribute(const AbstractValue& object, PyObject* name) {
  for (size_t i = 0; i < object.keys.size(); ++i) {
    if (PyUnicode_Compare(object.keys[i].get(), name) == 0) return i;
  }
  return std::nullopt;
}

}  // namespace accel
