// Items of tuples, lists and dicts.

#include "capture/context/descent.h"
#include "capture/domain/compiled_functions.h"
#include "capture/domain/flat_iterator.h"
#include "capture/domain/number_type.h"
#include "capture/domain/recognised_types.h"
#include "capture/domain/repr.h"
#include "capture/protocol/masked_selection.h"
#include "capture/protocol/numpy_calls.h"
#include "capture/protocol/operations.h"
#include "capture/python/containers/dynamic_lists.h"
#include "ndarray/array.h"

namespace accel {

namespace {

// The keys that a loop may add to a dict of the caller; a loop that adds one in each iteration has no fixed point.
constexpr size_t most_keys_of_loop = 3;

// The position of an index in a sequence; fails where Python raises IndexError.
Result<size_t> position(Capture& capture, const Ref& container, const Ref& index) {
  auto size = static_cast<int64_t>(container->items.size());
  ACCEL_TRY(int64_t at, capture.constants().require_int(index));
  if (at < 0) at += size;
  if (at < 0 || at >= size) return capture.raised(PyExc_IndexError, "the index is out of range");
  return static_cast<size_t>(at);
}

// The row type of a number, or of a tuple of numbers and of such tuples; nullopt for other items.
std::optional<RowType> entry_type(Capture& capture, const Ref& item) {
  const Descent level;
  capture.resolver().look(item);
  if (item->kind != AbstractKind::tuple) {
    std::optional<Type> number = number_type(*item);
    return number ? std::optional(RowType{*number, {}}) : std::nullopt;
  }
  RowType row;
  for (const Ref& each : item->items) {
    std::optional<RowType> part = entry_type(capture, each);
    if (!part) return std::nullopt;
    row.parts.push_back(std::move(*part));
  }
  return row.parts.empty() ? std::nullopt : std::optional(std::move(row));
}

// Turns a sequence into a dynamic list, so that a run-time index can select an item; null if its items have no common row type.
Ref as_dynamic_list(Capture& capture, const Ref& sequence, const Ref& list) {
  std::optional<RowType> row;
  for (const Ref& item : sequence->items) {
    std::optional<RowType> own = entry_type(capture, item);
    if (!own || (row && *row != *own)) return nullptr;
    row = std::move(own);
  }
  if (!row) return nullptr;
  make_dynamic_list(capture, list, *row);
  return settle(capture, list).ok() ? list : nullptr;
}

bool is_found_at_run_time(Capture& capture, const Ref& index) {
  return index->kind == AbstractKind::scalar && (!index->scalar.dim || capture.facts().is_runtime(*index->scalar.dim));
}

Result<Ref> slice_sequence(Capture& capture, const Ref& container, const Ref& index) {
  ACCEL_TRY(PyRef slice, capture.constants().require_constant(index));
  Py_ssize_t start = 0, stop = 0, step = 0;
  if (PySlice_Unpack(slice.get(), &start, &stop, &step) < 0) {
    PyErr_Clear();
    return fail(Reason::will_raise, "the slice");
  }
  Py_ssize_t count = PySlice_AdjustIndices(static_cast<Py_ssize_t>(container->items.size()), &start, &stop, step);
  std::vector<Ref> items;
  for (Py_ssize_t i = 0; i < count; ++i) items.push_back(container->items[static_cast<size_t>(start + i * step)]);
  return container->kind == AbstractKind::tuple ? capture.values().tuple(std::move(items))
                                                : capture.values().list(std::move(items));
}

// Whether the key's hash and == run no user code.
bool is_safe_key(PyObject* key) {
  return is_plain_constant(key) || is_dtype(key) || PyType_Check(key) || is_python_function(key) ||
         dtype_of_scalar(key).has_value();
}

bool same_key(PyObject* left, PyObject* right) {
  if (left == right) return true;
  if (!is_safe_key(left) || !is_safe_key(right) || PyType_Check(left) || PyType_Check(right)) return false;
  // A dtype equals its name, and a float32 may equal a float, with different hashes.
  Py_hash_t hash = PyObject_Hash(left), other = PyObject_Hash(right);
  int equal = hash == other ? PyObject_RichCompareBool(left, right, Py_EQ) : 0;
  if (PyErr_Occurred() != nullptr) PyErr_Clear();
  return equal > 0;
}

// Whether __getitem__ of an instance is written in Python: np.mgrid, np.r_, ...
bool has_python_getitem(Capture& capture, const Ref& container) {
  PyTypeObject* type = capture.values().type_of(container);
  if (type == nullptr || (container->kind != AbstractKind::constant && container->kind != AbstractKind::instance)) return false;
  PyRef name = PyRef::steal(PyUnicode_InternFromString("__getitem__"));
  PyObject* found = _PyType_Lookup(type, name.get());
  return found != nullptr && is_python_function(found);
}

}  // namespace

Status require_fresh(Capture& capture, const Ref& container) {
  if (is_row(container)) return fail(Reason::unsupported_value, "a change of a list in a list that grows");
  if (container->source < 0) return Unit{};
  return fail(Reason::store_to_argument, capture.sources().text(container->source));
}

Result<std::optional<size_t>> find_key(Capture& capture, const Ref& dict, const Ref& key) {
  ACCEL_TRY(PyRef wanted, capture.constants().require_constant(key));
  if (!is_safe_key(wanted.get())) return fail(Reason::unsupported_value, "a dict key of type " + type_name(wanted.get()));
  std::optional<size_t> found;
  for (size_t i = 0; i < dict->keys.size() && !found; ++i) {
    if (same_key(dict->keys[i].get(), wanted.get())) found = i;
  }
  if (dict->source >= 0) {
    Sources& sources = capture.sources();
    bool is_original = found && *found < capture.changes().as_it_came(dict).keys.size();
    if (is_original) sources.guard_bound(sources.dict_item(dict->source, dict->keys[*found].get()));
    if (!found) sources.guard_unbound(sources.dict_item(dict->source, wanted.get()));
  }
  return found;
}

Result<std::optional<Ref>> python_getitem(Capture& capture, const Ref& container) {
  capture.resolver().look(container);
  if (!has_python_getitem(capture, container)) return std::optional<Ref>();
  PyRef name = PyRef::steal(PyUnicode_InternFromString("__getitem__"));
  ACCEL_TRY(Ref method, get_attribute(capture, container, name.get()));
  return std::optional<Ref>(std::move(method));
}

Ref make_slice(Capture& capture, Ref start, Ref stop, Ref step) {
  Ref slice = std::make_shared<AbstractValue>();
  slice->kind = AbstractKind::slice;
  slice->items = {std::move(start), std::move(stop), std::move(step)};
  for (const Ref& part : slice->items) capture.resolver().look(part);
  return slice;
}

Result<Ref> get_item(Capture& capture, const Ref& container, const Ref& index) {
  capture.resolver().look(container);
  capture.resolver().look(index);
  ACCEL_TRY([[maybe_unused]] Unit gathered, materialise(capture, container));
  if (container->kind == AbstractKind::array) {
    capture.resolver().look_deep(index);
    ACCEL_TRY([[maybe_unused]] Unit gathered_index, materialise_deep(capture, index));
    return array_getitem(capture, container, index);
  }
  if (is_flat(container)) return flat_getitem(capture, container, index);
  if (is_dynamic_list(container)) {
    bool several = index->kind == AbstractKind::slice;
    return several ? slice_of_dynamic_list(capture, container, index) : item_of_dynamic_list(capture, container, index);
  }
  bool named = container->kind == AbstractKind::instance && is_named_tuple(capture.values().type_of(container));
  if (named) return get_item(capture, capture.values().tuple(container->items), index);
  if (is_sequence(container)) {
    if (index->kind == AbstractKind::slice) return slice_sequence(capture, container, index);
    if (is_found_at_run_time(capture, index)) {
      bool integer = dtype_kind(index->scalar.dtype) == 'i' || dtype_kind(index->scalar.dtype) == 'u';
      if (container->items.empty() && integer) return capture.raised(PyExc_IndexError, "the index is out of range");
      if (Ref list = as_dynamic_list(capture, container, capture.values().list(container->items)))
        return item_of_dynamic_list(capture, list, index);
    }
    ACCEL_TRY(size_t at, position(capture, container, index));
    return container->items[at];
  }
  if (container->kind == AbstractKind::dict) {
    ACCEL_TRY(std::optional<size_t> found, find_key(capture, container, index));
    if (!found) return capture.raised(PyExc_KeyError, "the key is missing");
    return container->items[*found];
  }
  if (container->kind == AbstractKind::object) return capture.resolver().refusal(container);
  if (container->kind == AbstractKind::scalar && container->scalar.kind == ValueKind::py_scalar) {
    return capture.raised(PyExc_TypeError, "a number has no items");
  }
  ACCEL_TRY(std::optional<Ref> method, python_getitem(capture, container));
  if (method) return capture.call(*method, {{index}, {}});
  if (container->kind == AbstractKind::constant && is_plain_constant(container->object.get())) {
    ACCEL_TRY(PyRef key, capture.constants().require_constant(index));
    return folded(capture, PyObject_GetItem(container->object.get(), key.get()));
  }
  return fail(Reason::unsupported_value, "an item of this object");
}

namespace {

// Called before a container is changed. A container of the caller must be known as mutated from the start.
Status begin_change(Capture& capture, const Ref& container) {
  if (container->source < 0) return Unit{};
  if (!capture.changes().is_changed(container)) {
    capture.resolver().plan_change(container->source, nullptr);
    return require_fresh(capture, container);
  }
  capture.note_effect(true);
  return Unit{};
}

// Storing the object that the item is already, as augmented assignment to an array does, changes nothing.
Status set_list_item(Capture& capture, const Ref& list, const Ref& index, const Ref& value) {
  if (list->source < 0 && is_found_at_run_time(capture, index) && as_dynamic_list(capture, list, list))
    return store_to_dynamic_list(capture, list, index, value);
  ACCEL_TRY(size_t at, position(capture, list, index));
  if (list->items[at] == value) return Unit{};
  ACCEL_TRY([[maybe_unused]] Unit known, begin_change(capture, list));
  list->items[at] = value;
  return Unit{};
}

Status set_dict_item(Capture& capture, const Ref& dict, const Ref& index, const Ref& value) {
  ACCEL_TRY(std::optional<size_t> found, find_key(capture, dict, index));
  if (found && dict->items[*found] == value) return Unit{};
  ACCEL_TRY(PyRef key, capture.constants().require_constant(index));
  if (!found && dict->source >= 0 && capture.in_loop() && capture.changes().added_keys(dict) >= most_keys_of_loop)
    return fail(Reason::store_to_argument, "a loop that adds keys to " + capture.sources().text(dict->source));
  ACCEL_TRY([[maybe_unused]] Unit known, begin_change(capture, dict));
  if (found) {
    dict->items[*found] = value;
  } else {
    dict->keys.push_back(std::move(key));
    dict->items.push_back(value);
  }
  return Unit{};
}

}  // namespace

Status set_item(Capture& capture, const Ref& container, const Ref& index, const Ref& value) {
  capture.resolver().look(container);
  ACCEL_TRY([[maybe_unused]] Unit gathered, materialise(capture, container));
  if (container->kind == AbstractKind::array) return store_item(capture, container, index, value);
  if (is_flat(container)) return flat_setitem(capture, container, index, value);
  if (is_row(container)) return store_to_row(capture, container, index, value);
  if (is_dynamic_list(container)) return store_to_dynamic_list(capture, container, index, value);
  if (container->kind == AbstractKind::object) return capture.resolver().refusal(container);
  if (container->kind == AbstractKind::list) return set_list_item(capture, container, index, value);
  if (container->kind != AbstractKind::dict) return fail(Reason::unsupported_value, "a store into this object");
  return set_dict_item(capture, container, index, value);
}
Status delete_item(Capture& capture, const Ref& container, const Ref& index) {
  capture.resolver().look(container);
  ACCEL_TRY([[maybe_unused]] Unit fresh, require_fresh(capture, container));
  if (container->kind == AbstractKind::list) {
    ACCEL_TRY(size_t at, position(capture, container, index));
    container->items.erase(container->items.begin() + static_cast<std::ptrdiff_t>(at));
    return Unit{};
  }
  if (container->kind != AbstractKind::dict) return fail(Reason::unsupported_value, "a deletion from this object");
  ACCEL_TRY(std::optional<size_t> found, find_key(capture, container, index));
  if (!found) return capture.raised(PyExc_KeyError, "the key is missing");
  auto at = static_cast<std::ptrdiff_t>(*found);
  container->items.erase(container->items.begin() + at);
  container->keys.erase(container->keys.begin() + at);
  return Unit{};
}

Status extend_list(Capture& capture, const Ref& list, const Ref& more) {
  capture.resolver().look(more);
  auto is_long = [&](const std::vector<Dim>& shape) { return shape.size() == 1 && !capture.dims().as_constant(shape[0]); };
  if (is_dynamic_list(more) || (more->kind == AbstractKind::array && is_long(more->array.layout.shape)))
    return extend_by_rows(capture, list, more);
  ACCEL_TRY(std::vector<Ref> items, all_items(capture, more));
  list->items.insert(list->items.end(), items.begin(), items.end());
  return Unit{};
}

}  // namespace accel
