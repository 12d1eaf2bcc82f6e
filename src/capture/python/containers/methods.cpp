// Methods of lists and dicts. Containers of the caller are only read.

#include <algorithm>

#include "capture/domain/repr.h"
#include "capture/protocol/builtin_calls.h"
#include "capture/python/containers/dynamic_lists.h"

namespace accel {

Status fill_dict(Capture& capture, const Ref& dict, const CallArguments& arguments, size_t first);

namespace {

Result<Ref> own(Capture& capture, const CallArguments& arguments, AbstractKind kind, size_t least, size_t most) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, least, most));
  const Ref& self = arguments.positional[0];
  if (self->kind != kind) return fail(Reason::unsupported_call, "a method of a container that is not read");
  ACCEL_TRY([[maybe_unused]] Unit fresh, require_fresh(capture, self));
  return self;
}

Result<Ref> readable_dict(const CallArguments& arguments, size_t least, size_t most) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, least, most));
  if (arguments.positional[0]->kind == AbstractKind::dict) return arguments.positional[0];
  return fail(Reason::unsupported_call, "a method of a container that is not read");
}

Result<Ref> dict_view(const CallArguments& arguments, size_t what) {
  ACCEL_TRY(Ref dict, readable_dict(arguments, 1, 1));
  return view_of_dict(dict, what);
}

}  // namespace

Ref view_of_dict(const Ref& dict, size_t what) {
  Ref view = std::make_shared<AbstractValue>();
  view->kind = AbstractKind::dict_view;
  view->items = {dict};
  view->position = what;
  return view;
}

namespace {

// A list that may be changed, dynamic or not.
Result<Ref> own_list(Capture& capture, const CallArguments& arguments, size_t count) {
  bool is_dynamic = !arguments.positional.empty() && is_dynamic_list(arguments.positional[0]);
  return own(capture, arguments, is_dynamic ? AbstractKind::dynamic_list : AbstractKind::list, count, count);
}

}  // namespace

Result<Ref> capture_list_append(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(Ref list, own_list(capture, arguments, 2));
  list->items.push_back(arguments.positional[1]);
  return capture.values().constant(Py_None);
}

Result<Ref> capture_list_copy(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 1, 1));
  if (arguments.positional[0]->kind != AbstractKind::list) return fail(Reason::unsupported_call, "list.copy");
  return capture.values().list(arguments.positional[0]->items);
}

Result<Ref> capture_list_extend(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(Ref list, own_list(capture, arguments, 2));
  ACCEL_TRY([[maybe_unused]] Unit extended, extend_list(capture, list, arguments.positional[1]));
  return capture.values().constant(Py_None);
}

Result<Ref> capture_list_insert(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(Ref list, own_list(capture, arguments, 3));
  if (is_dynamic_list(list)) {
    ACCEL_TRY([[maybe_unused]] Unit inserted,
              insert_into_dynamic_list(capture, list, arguments.positional[1], arguments.positional[2]));
    return capture.values().constant(Py_None);
  }
  ACCEL_TRY(int64_t at, capture.constants().require_int(arguments.positional[1]));
  auto size = static_cast<int64_t>(list->items.size());
  if (at < 0) at += size;
  at = std::clamp<int64_t>(at, 0, size);
  list->items.insert(list->items.begin() + at, arguments.positional[2]);
  return capture.values().constant(Py_None);
}

Result<Ref> capture_list_pop(Capture& capture, PyObject*, const CallArguments& arguments) {
  bool has_index = arguments.positional.size() == 2;
  ACCEL_TRY(Ref list, own_list(capture, arguments, has_index ? 2 : 1));
  Ref index = has_index ? arguments.positional[1] : capture.values().python_int(-1);
  if (is_dynamic_list(list)) return pop_of_dynamic_list(capture, list, index);
  ACCEL_TRY(Ref item, get_item(capture, list, index));
  ACCEL_TRY([[maybe_unused]] Unit done, delete_item(capture, list, index));
  return item;
}

Result<Ref> capture_list_reverse(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(Ref list, own_list(capture, arguments, 1));
  if (is_dynamic_list(list)) {
    ACCEL_TRY([[maybe_unused]] Unit reversed, reverse_dynamic_list(capture, list));
  } else {
    std::reverse(list->items.begin(), list->items.end());
  }
  return capture.values().constant(Py_None);
}

Result<Ref> capture_list_clear(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(Ref list, own_list(capture, arguments, 1));
  if (is_dynamic_list(list)) {
    ACCEL_TRY([[maybe_unused]] Unit cleared, clear_dynamic_list(capture, list));
  } else {
    list->items.clear();
  }
  return capture.values().constant(Py_None);
}

// list.index, list.count and list.remove
Result<Ref> capture_list_find(Capture& capture, PyObject* method, const CallArguments& arguments) {
  PyRef name = PyRef::steal(PyObject_GetAttrString(method, "__name__"));
  std::string what = name ? utf8(name.get()) : std::string();
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 2, 2));
  const Ref& list = arguments.positional[0];
  if (list->kind != AbstractKind::list) return fail(Reason::unsupported_call, "list." + what);
  if (what == "remove") {
    ACCEL_TRY([[maybe_unused]] Unit fresh, require_fresh(capture, list));
  }
  int64_t count = 0;
  for (size_t i = 0; i < list->items.size(); ++i) {
    ACCEL_TRY(bool same, is_equal(capture, list->items[i], arguments.positional[1]));
    if (!same) continue;
    if (what == "index") return capture.values().python_int(static_cast<int64_t>(i));
    if (what == "remove") {
      list->items.erase(list->items.begin() + static_cast<std::ptrdiff_t>(i));
      return capture.values().constant(Py_None);
    }
    ++count;
  }
  if (what == "count") return capture.values().python_int(count);
  return capture.raised(PyExc_ValueError, "the value is not in the list");
}

// dict.fromkeys(iterable, value=None)
Result<Ref> capture_dict_fromkeys(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 2, 3));
  bool exact = arguments.positional[0]->kind == AbstractKind::constant &&
               arguments.positional[0]->object.get() == reinterpret_cast<PyObject*>(&PyDict_Type);
  if (!exact) return fail(Reason::unsupported_call, "fromkeys of a subclass of dict");
  ACCEL_TRY(std::vector<Ref> keys, all_items(capture, arguments.positional[1]));
  Ref value = arguments.positional.size() == 3 ? arguments.positional[2] : capture.values().constant(Py_None);
  Ref dict = std::make_shared<AbstractValue>();
  dict->kind = AbstractKind::dict;
  for (const Ref& key : keys) {
    capture.resolver().look(key);
    ACCEL_TRY([[maybe_unused]] Unit done, set_item(capture, dict, key, value));
  }
  return dict;
}

Result<Ref> capture_dict_get(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(Ref dict, readable_dict(arguments, 2, 3));
  ACCEL_TRY(std::optional<size_t> found, find_key(capture, dict, arguments.positional[1]));
  if (found) return dict->items[*found];
  return arguments.positional.size() == 3 ? arguments.positional[2] : capture.values().constant(Py_None);
}

Result<Ref> capture_dict_setdefault(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(Ref dict, own(capture, arguments, AbstractKind::dict, 2, 3));
  ACCEL_TRY(std::optional<size_t> found, find_key(capture, dict, arguments.positional[1]));
  if (found) return dict->items[*found];
  Ref value = arguments.positional.size() == 3 ? arguments.positional[2] : capture.values().constant(Py_None);
  ACCEL_TRY([[maybe_unused]] Unit done, set_item(capture, dict, arguments.positional[1], value));
  return value;
}

Result<Ref> capture_dict_pop(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(Ref dict, own(capture, arguments, AbstractKind::dict, 2, 3));
  ACCEL_TRY(std::optional<size_t> found, find_key(capture, dict, arguments.positional[1]));
  if (!found && arguments.positional.size() == 3) return arguments.positional[2];
  if (!found) return fail(Reason::will_raise, "the key is missing");
  Ref value = dict->items[*found];
  ACCEL_TRY([[maybe_unused]] Unit done, delete_item(capture, dict, arguments.positional[1]));
  return value;
}

Result<Ref> capture_dict_update(Capture& capture, PyObject*, const CallArguments& arguments) {
  if (arguments.positional.empty() || arguments.positional[0]->kind != AbstractKind::dict) {
    return fail(Reason::unsupported_call, "dict.update");
  }
  ACCEL_TRY([[maybe_unused]] Unit done, fill_dict(capture, arguments.positional[0], arguments, 1));
  return capture.values().constant(Py_None);
}

Result<Ref> capture_dict_keys(Capture&, PyObject*, const CallArguments& arguments) { return dict_view(arguments, 0); }

Result<Ref> capture_dict_values(Capture&, PyObject*, const CallArguments& arguments) { return dict_view(arguments, 1); }

Result<Ref> capture_dict_items(Capture&, PyObject*, const CallArguments& arguments) { return dict_view(arguments, 2); }

}  // namespace accel
