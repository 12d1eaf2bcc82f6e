// Iteration. An iterator is one of
// * over a container: `iterated` is a list (read as it is now), else the items are `items`;
// * lazy: `object` is enumerate or zip and `items` are the iterators below; zip(strict=True) has an entry in `keys`.

#include <algorithm>

#include "capture/known_types.h"
#include "capture/semantics.h"

namespace accel {

namespace {

constexpr size_t most_items = 1 << 20;

Ref make_iterator(std::vector<Ref> items, Ref container) {
  Ref iterator = std::make_shared<AbstractValue>();
  iterator->kind = AbstractKind::iterator;
  iterator->items = std::move(items);
  iterator->iterated = std::move(container);
  return iterator;
}

std::vector<Ref> keys_of(Capture& capture, const Ref& dict) {
  std::vector<Ref> keys;
  for (const PyRef& key : dict->keys) keys.push_back(capture.constant(key.get()));
  return keys;
}

// Order and number of a dict's keys are known only when the captured code made it.
Status require_own(const Ref& dict) {
  if (dict->source < 0) return Unit{};
  return fail(Reason::unsupported_value, "iteration over a dict of the call");
}

Result<std::vector<Ref>> items_of_view(Capture& capture, const Ref& view) {
  const Ref& dict = view->items[0];
  ACCEL_TRY([[maybe_unused]] Unit own, require_own(dict));
  if (view->position == 0) return keys_of(capture, dict);
  if (view->position == 1) return dict->items;
  std::vector<Ref> pairs = keys_of(capture, dict);
  for (size_t i = 0; i < pairs.size(); ++i) pairs[i] = capture.tuple({pairs[i], dict->items[i]});
  return pairs;
}

Result<std::vector<Ref>> items_of_constant(Capture& capture, PyObject* object) {
  if (!is_plain_constant(object)) return fail(Reason::unsupported_value, "iteration over this object");
  PyRef list = PyRef::steal(PySequence_Check(object) ? PySequence_List(object) : nullptr);
  if (!list) {
    PyErr_Clear();
    return fail(Reason::will_raise, "the object is not iterable");
  }
  std::vector<Ref> items;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list.get()); ++i)
    items.push_back(capture.constant(PyList_GET_ITEM(list.get(), i)));
  return items;
}

// zip(strict=True): the iterator that ended must be the first, and the others end with it.
Status require_all_ended(Capture& capture, const Ref& zip, size_t ended) {
  if (ended != 0) return fail(Reason::will_raise, "zip: the iterables have different lengths");
  for (size_t i = 1; i < zip->items.size(); ++i) {
    ACCEL_TRY(std::optional<Ref> more, next_item(capture, zip->items[i]));
    if (more) return fail(Reason::will_raise, "zip: the iterables have different lengths");
  }
  return Unit{};
}

Result<std::optional<Ref>> next_of_lazy(Capture& capture, const Ref& iterator) {
  std::vector<Ref> parts;
  for (const Ref& below : iterator->items) {
    ACCEL_TRY(std::optional<Ref> item, next_item(capture, below));
    if (!item) {
      if (!iterator->keys.empty()) {
        ACCEL_TRY([[maybe_unused]] Unit same, require_all_ended(capture, iterator, parts.size()));
      }
      return std::optional<Ref>();
    }
    parts.push_back(*item);
  }
  if (iterator->object.get() == reinterpret_cast<PyObject*>(&PyEnum_Type)) {
    parts.insert(parts.begin(), capture.python_int(static_cast<int64_t>(iterator->position)));
  }
  ++iterator->position;
  if (parts.empty()) return std::optional<Ref>();
  return std::optional<Ref>(capture.tuple(std::move(parts)));
}

}  // namespace

Result<Ref> get_iterator(Capture& capture, const Ref& value) {
  capture.look(value);
  switch (value->kind) {
    case AbstractKind::iterator:
      return value;
    case AbstractKind::tuple:
      return make_iterator(value->items, value);
    case AbstractKind::list:
      return make_iterator({}, value);
    case AbstractKind::dict: {
      ACCEL_TRY([[maybe_unused]] Unit own, require_own(value));
      return make_iterator(keys_of(capture, value), value);
    }
    case AbstractKind::dict_view: {
      ACCEL_TRY(std::vector<Ref> items, items_of_view(capture, value));
      return make_iterator(std::move(items), value);
    }
    case AbstractKind::constant: {
      ACCEL_TRY(std::vector<Ref> items, items_of_constant(capture, value->object.get()));
      return make_iterator(std::move(items), value);
    }
    case AbstractKind::array:
      return fail(Reason::unsupported_opcode, "iteration over an array");
    case AbstractKind::object:
      return capture.refusal(value);
    default:
      return fail(Reason::unsupported_value, "iteration over this object");
  }
}

Result<std::optional<Ref>> next_item(Capture& capture, const Ref& iterator) {
  if (iterator->kind != AbstractKind::iterator) return fail(Reason::unsupported_value, "not an iterator of a known container");
  if (iterator->object) return next_of_lazy(capture, iterator);
  const Ref& container = iterator->iterated;
  bool live = container && container->kind == AbstractKind::list;
  const std::vector<Ref>& items = live ? container->items : iterator->items;
  if (container && container->kind == AbstractKind::dict && container->keys.size() != items.size()) {
    return fail(Reason::will_raise, "the dict changed its size during iteration");
  }
  if (iterator->position >= items.size()) return std::optional<Ref>();
  return std::optional<Ref>(items[iterator->position++]);
}

Result<std::vector<Ref>> remaining_items(Capture& capture, const Ref& iterator) {
  if (iterator->object) {
    // Walk a copy of the tree.
    Ref copy = std::make_shared<AbstractValue>(*iterator);
    for (Ref& below : copy->items) {
      ACCEL_TRY(std::vector<Ref> rest, remaining_items(capture, below));
      below = make_iterator(std::move(rest), nullptr);
    }
    return all_items(capture, copy);
  }
  const Ref& container = iterator->iterated;
  if (container && container->kind == AbstractKind::list && (container->source >= 0 || container.use_count() > 1)) {
    return fail(Reason::unsupported_value, "an iterator over a list that can still change");
  }
  const std::vector<Ref>& items = container && container->kind == AbstractKind::list ? container->items : iterator->items;
  auto first = items.begin() + static_cast<std::ptrdiff_t>(std::min(iterator->position, items.size()));
  return std::vector<Ref>(first, items.end());
}

Result<std::vector<Ref>> all_items(Capture& capture, const Ref& value) {
  capture.look(value);
  if (value->kind == AbstractKind::tuple || value->kind == AbstractKind::list) return value->items;
  ACCEL_TRY(Ref iterator, get_iterator(capture, value));
  std::vector<Ref> items;
  while (items.size() < most_items) {
    ACCEL_TRY(std::optional<Ref> item, next_item(capture, iterator));
    if (!item) return items;
    items.push_back(*item);
  }
  return fail(Reason::capture_budget, "an iteration that is too long");
}

}  // namespace accel
