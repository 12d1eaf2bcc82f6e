// Builtins that make or read containers and iterators.

#include <algorithm>

#include "capture/domain/recognised_types.h"
#include "capture/protocol/arguments.h"
#include "capture/protocol/builtin_calls.h"
#include "capture/protocol/conditions.h"
#include "capture/protocol/iterators.h"
#include "capture/python/containers/dynamic_lists.h"
#include "capture/python/iteration/range_products.h"

namespace accel {

namespace {

constexpr size_t most_products = 1024;
constexpr int64_t most_repeats = 16;

Ref snapshot(Capture& capture, std::vector<Ref> items) {
  Ref container = capture.values().tuple(items);
  Ref iterator = std::make_shared<AbstractValue>();
  iterator->kind = AbstractKind::iterator;
  iterator->items = std::move(items);
  iterator->iterated = std::move(container);
  return iterator;
}

// [::-1]
PyObject* backward_slice() {
  PyRef step = PyRef::steal(PyLong_FromLong(-1));
  return PySlice_New(Py_None, Py_None, step.get());
}

Result<Ref> known_truth(Capture& capture, const Ref& value) {
  ACCEL_TRY(bool known, truth(capture, value));
  return make_bool(capture, known);
}

// all and any: the first item whose truth is `decisive` determines the result. For a list or tuple all items may be read,
// because that cannot be observed.
Result<Ref> first_truth(Capture& capture, const CallArguments& arguments, bool decisive) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 1, 1));
  const Ref& container = arguments.positional[0];
  bool sequence = container->kind == AbstractKind::tuple || container->kind == AbstractKind::list;
  ACCEL_TRY(Ref iterator, get_iterator(capture, container));
  ValueId found = no_value;
  while (true) {
    ACCEL_TRY(std::optional<Ref> item, next_item(capture, iterator));
    if (!item) return found == no_value ? make_bool(capture, !decisive) : capture.values().scalar(found);
    ACCEL_TRY(Ref answer, sequence ? truth_value(capture, *item) : known_truth(capture, *item));
    if (answer->kind == AbstractKind::constant) {
      if ((answer->object.get() == Py_True) == decisive) return answer;
      continue;
    }
    ACCEL_TRY(ValueId value, capture.values().scalar_value(answer));
    Op op = decisive ? Op::logical_or : Op::logical_and;
    found = found == no_value ? value : capture.build().pointwise(op, {found, value}, {DType::bool_}, ValueKind::py_scalar);
  }
}

}  // namespace

Result<Ref> capture_all(Capture& capture, PyObject*, const CallArguments& arguments) {
  return first_truth(capture, arguments, false);
}

Result<Ref> capture_any(Capture& capture, PyObject*, const CallArguments& arguments) {
  return first_truth(capture, arguments, true);
}

Result<Ref> capture_len(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 1, 1));
  const Ref& given = arguments.positional[0];
  const Ref& value = given->kind == AbstractKind::dict_view ? given->items[0] : given;
  switch (value->kind) {
    case AbstractKind::array:
      if (value->array.layout.shape.empty()) return capture.raised(PyExc_TypeError, "len() of unsized object");
      return capture.values().dim_scalar(value->array.layout.shape[0]);
    case AbstractKind::dict:
      capture.changes().guard_length(value);
      [[fallthrough]];
    case AbstractKind::tuple:
    case AbstractKind::list:
      return capture.values().python_int(static_cast<int64_t>(value->items.size()));
    case AbstractKind::dynamic_list:
      return capture.values().dim_scalar(length_of(capture, value));
    case AbstractKind::constant:
      return fold_call(capture, callable, arguments);
    case AbstractKind::set:
      if (!value->object) return capture.values().python_int(static_cast<int64_t>(value->items.size()));
      return fold_call(capture, callable, arguments);
    case AbstractKind::scalar:
    case AbstractKind::function:
    case AbstractKind::slice:
      return capture.raised(PyExc_TypeError, "the object has no len()");
    case AbstractKind::instance:
      if (is_named_tuple(capture.values().type_of(value)))
        return capture.values().python_int(static_cast<int64_t>(value->items.size()));
      [[fallthrough]];
    default:
      return fail(Reason::unsupported_argument, "len of this object");
  }
}

Result<Ref> capture_range(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 1, 3));
  bool constant = std::all_of(arguments.positional.begin(), arguments.positional.end(),
                              [&](const Ref& bound) { return capture.constants().is_constant(bound); });
  if (constant) return fold_call(capture, callable, arguments);
  return range_of(capture, arguments.positional);
}

Result<Ref> capture_slice(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 1, 3));
  Ref none = capture.values().constant(Py_None);
  Ref slice = std::make_shared<AbstractValue>();
  slice->kind = AbstractKind::slice;
  slice->items = arguments.positional;
  if (slice->items.size() == 1) slice->items.insert(slice->items.begin(), none);
  if (slice->items.size() == 2) slice->items.push_back(none);
  return slice;
}

Result<Ref> capture_tuple(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 0, 1));
  if (arguments.positional.empty()) return capture.values().tuple({});
  if (arguments.positional[0]->kind == AbstractKind::tuple) return arguments.positional[0];
  ACCEL_TRY(std::vector<Ref> items, all_items(capture, arguments.positional[0]));
  return capture.values().tuple(std::move(items));
}

// tuple.__new__(class, items) of classes made by collections.namedtuple.
Result<Ref> capture_new_tuple(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 2, 2));
  ACCEL_TRY(PyRef object, capture.constants().require_constant(arguments.positional[0]));
  auto* type = reinterpret_cast<PyTypeObject*>(object.get());
  if (!PyType_Check(object.get()) || !is_named_tuple(type)) return fail(Reason::unsupported_call, "tuple.__new__");
  ACCEL_TRY(std::vector<Ref> items, all_items(capture, arguments.positional[1]));
  Ref made = capture.values().instance(type);
  PyRef fields = PyRef::steal(PyObject_GetAttrString(object.get(), "_fields"));
  bool fits =
      fields && PyTuple_CheckExact(fields.get()) && PyTuple_GET_SIZE(fields.get()) == static_cast<Py_ssize_t>(items.size());
  if (!fits) return fail(Reason::unsupported_call, "a named tuple of another length than its fields");
  for (size_t k = 0; k < items.size(); ++k)
    made->keys.push_back(PyRef::borrow(PyTuple_GET_ITEM(fields.get(), static_cast<Py_ssize_t>(k))));
  made->items = std::move(items);
  return made;
}

Result<Ref> capture_list(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 0, 1));
  if (arguments.positional.empty()) return capture.values().list({});
  ACCEL_TRY(std::vector<Ref> items, all_items(capture, arguments.positional[0]));
  return capture.values().list(std::move(items));
}

// Adds the pairs of a mapping or of an iterable of pairs, then the keyword arguments.
Status fill_dict(Capture& capture, const Ref& dict, const CallArguments& arguments, size_t first) {
  if (arguments.positional.size() > first + 1) return fail(Reason::will_raise, "dict expects one argument");
  if (arguments.positional.size() == first + 1) {
    Ref pairs = arguments.positional[first];
    if (pairs->kind == AbstractKind::dict) {
      capture.changes().guard_keys(pairs);
      for (size_t i = 0; i < pairs->keys.size(); ++i) {
        ACCEL_TRY([[maybe_unused]] Unit done,
                  set_item(capture, dict, capture.values().constant(pairs->keys[i].get()), pairs->items[i]));
      }
    } else {
      ACCEL_TRY(std::vector<Ref> items, all_items(capture, pairs));
      for (const Ref& item : items) {
        ACCEL_TRY(std::vector<Ref> pair, all_items(capture, item));
        if (pair.size() != 2) return fail(Reason::will_raise, "an item that is no pair");
        ACCEL_TRY([[maybe_unused]] Unit done, set_item(capture, dict, pair[0], pair[1]));
      }
    }
  }
  for (const auto& [name, value] : arguments.keywords) {
    Ref key = capture.values().constant(PyRef::steal(PyUnicode_FromString(name.c_str())).get());
    ACCEL_TRY([[maybe_unused]] Unit done, set_item(capture, dict, key, value));
  }
  return Unit{};
}

Result<Ref> capture_dict(Capture& capture, PyObject*, const CallArguments& arguments) {
  Ref dict = std::make_shared<AbstractValue>();
  dict->kind = AbstractKind::dict;
  ACCEL_TRY([[maybe_unused]] Unit done, fill_dict(capture, dict, arguments, 0));
  return dict;
}

Result<Ref> capture_enumerate(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  Ref start = arguments.positional.size() == 2 ? arguments.positional[1] : keyword(arguments, "start");
  if (arguments.positional.empty() || arguments.positional.size() + arguments.keywords.size() > 2) {
    return fail(Reason::unsupported_argument, "enumerate");
  }
  if (!start) start = capture.values().python_int(0);
  if (capture.values().type_of(start) != &PyLong_Type)
    return fail(Reason::unsupported_argument, "the start of enumerate is no int; plain form: enumerate with an int as start");
  ACCEL_TRY(Dim first, read_dim(capture, start));
  if (!capture.facts().assume_fits(first)) return fail(Reason::unsupported_argument, "the start of enumerate is very large");
  ACCEL_TRY(Ref iterator, get_iterator(capture, arguments.positional[0]));
  return make_lazy_iterator(callable, {iterator, start});
}

Result<Ref> capture_zip(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  std::vector<Ref> below;
  Ref strict = keyword(arguments, "strict");
  if (arguments.keywords.size() > (strict ? 1 : 0)) return fail(Reason::will_raise, "zip takes no such keyword");
  bool is_strict = false;
  if (strict) {
    ACCEL_TRY(is_strict, truth(capture, strict));
  }
  for (const Ref& argument : arguments.positional) {
    ACCEL_TRY(Ref iterator, get_iterator(capture, argument));
    below.push_back(std::move(iterator));
  }
  Ref zip = make_lazy_iterator(callable, std::move(below));
  if (is_strict) zip->keys.push_back(PyRef::borrow(Py_True));
  return zip;
}

Result<Ref> capture_partial(Capture&, PyObject*, const CallArguments& arguments) {
  if (arguments.positional.empty()) return fail(Reason::will_raise, "partial of nothing");
  Ref partial = std::make_shared<AbstractValue>();
  partial->kind = AbstractKind::partial;
  partial->items = arguments.positional;
  for (const auto& [name, value] : arguments.keywords) {
    partial->keys.push_back(PyRef::steal(PyUnicode_FromString(name.c_str())));
    partial->items.push_back(value);
  }
  return partial;
}

Result<Ref> capture_reversed(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 1, 1));
  const Ref& value = arguments.positional[0];
  bool constant_range = value->kind == AbstractKind::constant && PyRange_Check(value->object.get());
  if (value->kind == AbstractKind::range) {
    ACCEL_TRY(Ref backwards, reversed_range(capture, value));
    return get_iterator(capture, backwards);
  }
  if (constant_range) {
    ACCEL_TRY(Ref backwards, folded(capture, PyObject_CallMethod(value->object.get(), "__getitem__", "N", backward_slice())));
    return get_iterator(capture, backwards);
  }
  if (value->kind == AbstractKind::tuple || value->kind == AbstractKind::list) return reversed_container(capture, value);
  if (value->kind == AbstractKind::array && !value->array.layout.shape.empty()) {
    ACCEL_TRY(Ref backwards, get_item(capture, value, capture.values().constant(PyRef::steal(backward_slice()).get())));
    return get_iterator(capture, backwards);
  }
  bool sequence =
      value->kind == AbstractKind::constant && PySequence_Check(value->object.get()) && is_plain_constant(value->object.get());
  if (!sequence) return fail(Reason::unsupported_argument, "reversed of this object");
  ACCEL_TRY(std::vector<Ref> items, all_items(capture, value));
  return reversed_container(capture, capture.values().tuple(std::move(items)));
}

// itertools.product(*iterables, repeat=1), which reads all iterables when it is made.
Result<Ref> capture_product(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  Ref repeat = keyword(arguments, "repeat");
  int64_t times = 1;
  if (arguments.keywords.size() > (repeat ? 1 : 0)) return fail(Reason::will_raise, "product takes no such keyword");
  if (repeat) {
    ACCEL_TRY(times, capture.constants().require_int(repeat));
  }
  if (times < 0 || times > most_repeats)
    return fail(Reason::unsupported_argument, "product with this repeat; plain form: nested loops");
  ACCEL_TRY(Ref of_ranges, product_of_ranges(capture, callable, arguments, times));
  if (of_ranges) return of_ranges;
  std::vector<std::vector<Ref>> factors, rows = {{}};
  for (const Ref& argument : arguments.positional) {
    ACCEL_TRY(std::vector<Ref> items, all_items(capture, argument));
    factors.push_back(std::move(items));
  }
  for (size_t k = 0; k < factors.size() * static_cast<size_t>(times); ++k) {
    const std::vector<Ref>& items = factors[k % factors.size()];
    std::vector<std::vector<Ref>> longer;
    if (rows.size() * items.size() > most_products)
      return fail(Reason::unsupported_argument, "a product of many items; plain form: nested loops");
    for (const std::vector<Ref>& row : rows) {
      for (const Ref& item : items) {
        longer.push_back(row);
        longer.back().push_back(item);
      }
    }
    rows = std::move(longer);
  }
  std::vector<Ref> items;
  for (std::vector<Ref>& row : rows) items.push_back(capture.values().tuple(std::move(row)));
  return snapshot(capture, std::move(items));
}

Result<Ref> capture_iter(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 1, 1));
  return get_iterator(capture, arguments.positional[0]);
}

namespace {

// The next item, where a guard on sizes can decide whether there is one.
Result<std::optional<Ref>> next_by_guards(Capture& capture, const Ref& iterator) {
  ACCEL_TRY(Condition more, supply(capture, iterator));
  if (!more.known && more.relations.empty()) return fail(Reason::data_dependent_branch, "whether there is a next item");
  bool holds = more.known ? *more.known : std::all_of(more.relations.begin(), more.relations.end(), [&](const Relation& each) {
    return capture.facts().decide(each.left, each.comparison, each.right);
  });
  if (!holds) return std::optional<Ref>();
  ACCEL_TRY(Ref item, take(capture, iterator));
  return std::optional<Ref>(std::move(item));
}

}  // namespace

Result<Ref> capture_next(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 1, 2));
  ACCEL_TRY(std::optional<Ref> item, next_by_guards(capture, arguments.positional[0]));
  if (item) return *item;
  if (arguments.positional.size() == 2) return arguments.positional[1];
  return capture.raised(PyExc_StopIteration, "the iterator is at its end");
}

}  // namespace accel
