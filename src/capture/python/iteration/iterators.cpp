// Kinds of iterators:
// * over a container: `iterated` is a list or a dict view, read in its current state (`keys` are the dict's keys at the start),
//   or else the items are in `items`; `position` is that of the next item;
// * reversed: `object` is reversed, `iterated` is the list or tuple in its current state, items has its length at the start;
//   `position` items have been consumed;
// * over a range: `object` is range, items are start, stop, step (of known sign) and the number of consumed items;
// * over an array's first axis: `object` is ndarray, items are the array and the number of consumed items;
// * over a dynamic list in its current state: `object` is list, items are the list and the number of consumed items;
// * enumerate: `object` is enumerate, items are the inner iterator and the next number;
// * a generator: see generators.cpp;
// * a product of ranges: see range_products.h;
// * zip: `object` is zip, items are the inner iterators; zip(strict=True) has an entry in `keys`.
// For iterators over ranges and arrays, `position` 1 means that iterations are evaluated at capture one by one, and guards
// decide whether there is a next item.

#include "capture/protocol/iterators.h"

#include <algorithm>

#include "capture/protocol/operands.h"
#include "capture/protocol/operations.h"
#include "capture/python/containers/dynamic_lists.h"
#include "capture/python/iteration/iterator_kinds.h"
#include "capture/python/iteration/range_products.h"

namespace accel {

namespace {

constexpr int64_t few_rounds = 64;  // iterations of a loop that may be evaluated at capture if it cannot be a loop of the graph
constexpr int64_t guarded_rounds = 12;  // few_rounds for an iteration count that a guard fixes
constexpr int64_t rolled_rounds = 2;    // loops with fewer iterations are evaluated at capture

bool is_kind(const Ref& iterator, PyObject* callable) { return iterator->object.get() == callable; }

// The number of consumed items; bound to a symbol if it is known at run time only.
Dim taken(Capture& capture, const Ref& iterator, double most, int64_t hint) {
  Ref& index = iterator->items.back();
  if (index->kind == AbstractKind::scalar && !index->scalar.dim) {
    index->scalar.dim =
        capture.facts().bind_dim(index->scalar.value, "round", std::max<int64_t>(hint, 0), 0, std::max(most, 0.0));
  }
  return integer(capture, index);
}

// Adds the fact that at most as many items are consumed as there are.
void limit_taken(Capture& capture, Dim count, Dim most) {
  Dim left = capture.dims().sub(most, count);
  if (!capture.facts().is_runtime(count) || !capture.facts().knows(most) || capture.facts().knows(left)) return;
  capture.facts().all().push_back(left);
}

struct RangeState {
  Dim start, stop, step, item;
  bool forward = true;
};

RangeState range_state(Capture& capture, const Ref& iterator) {
  DimTable& dims = capture.dims();
  RangeState state;
  state.start = integer(capture, iterator->items[0]);
  state.stop = integer(capture, iterator->items[1]);
  state.step = integer(capture, iterator->items[2]);
  state.forward = is_forward(capture, state.step);
  Dim distance = distance_of(capture, state.start, state.stop, state.forward);
  int64_t stride = std::max<int64_t>(std::abs(dims.as_constant(state.step).value_or(1)), 1);
  double most = capture.ranges().high(distance) / static_cast<double>(stride);
  Dim count = taken(capture, iterator, most, capture.ranges().hint(distance) / stride / 2);
  state.item = dims.add(state.start, dims.mul(count, state.step));
  if (stride == 1 && dims.as_constant(state.step)) limit_taken(capture, count, distance);
  return state;
}

Dim item_of_range(Capture& capture, const RangeState& state) {
  if (!capture.facts().is_runtime(state.step)) return state.item;
  return bound_item(capture, state.item, state.start, state.stop, state.forward);
}

Dim rows_taken(Capture& capture, const Ref& iterator) {
  Dim extent = iterator->items[0]->array.layout.shape[0];
  Dim count = taken(capture, iterator, capture.ranges().high(extent), capture.ranges().hint(extent) / 2);
  limit_taken(capture, count, extent);
  return count;
}

Dim items_taken(Capture& capture, const Ref& iterator) {
  return taken(capture, iterator, capture.ranges().high(length_of(capture, iterator->items[0])), 0);
}

Dim products_taken(Capture& capture, const Ref& iterator) {
  Dim length = length_of_product(capture, iterator);
  Dim count = taken(capture, iterator, capture.ranges().high(length), capture.ranges().hint(length) / 2);
  limit_taken(capture, count, length);
  return count;
}

}  // namespace

std::optional<Dim> rounds_so_far(Capture& capture, const Ref& iterator) {
  if (is_kind(iterator, array_class())) {
    rows_taken(capture, iterator);
  } else if (is_kind(iterator, range_class()) && capture.constants().is_constant(iterator->items[2])) {
    range_state(capture, iterator);
  } else {
    return std::nullopt;
  }
  return known_dim(capture, iterator->items.back());
}

std::optional<Dim> all_rounds(Capture& capture, const Ref& iterator) {
  if (is_kind(iterator, array_class())) return iterator->items[0]->array.layout.shape[0];
  if (!is_kind(iterator, range_class())) return std::nullopt;
  DimTable& dims = capture.dims();
  const RangeState range = range_state(capture, iterator);
  std::optional<int64_t> step = dims.as_constant(range.step);
  if (!step || std::abs(*step) != 1) return std::nullopt;
  Dim distance = distance_of(capture, range.start, range.stop, range.forward);
  return capture.facts().knows(distance) ? distance : dims.max(distance, dims.constant(0));
}

namespace {

void advance(Capture& capture, const Ref& iterator) {
  Ref& index = iterator->items.back();
  index = capture.values().dim_scalar(capture.dims().add(integer(capture, index), capture.dims().constant(1)));
}

bool is_reversed(const Ref& iterator) { return is_kind(iterator, reversed_class()); }

size_t first_length(const Ref& iterator) { return static_cast<size_t>(PyLong_AsSsize_t(iterator->items[0]->object.get())); }

bool is_over_dict(const Ref& iterator) { return iterator->iterated && iterator->iterated->kind == AbstractKind::dict_view; }

constexpr const char* view_names[] = {"keys", "values", "items"};  // by AbstractValue::position of a view

// Python's dict iterators identify entries by position, so iteration over a dict whose keys have changed is left to the
// interpreter.
bool has_other_keys(const Ref& iterator) {
  const std::vector<PyRef>&first = iterator->keys, &now = iterator->iterated->items[0]->keys;
  return !std::equal(first.begin(), first.end(), now.begin(), now.end(),
                     [](const PyRef& a, const PyRef& b) { return a.get() == b.get(); });
}

Ref entry_of_view(Capture& capture, const Ref& view, size_t at) {
  const Ref& dict = view->items[0];
  if (view->position == 1) return dict->items[at];
  Ref key = capture.values().constant(dict->keys[at].get());
  return view->position == 0 ? key : capture.values().tuple({std::move(key), dict->items[at]});
}

size_t known_count(const Ref& iterator) {
  // A reversed iterator ends at an index beyond the list's current end.
  if (is_reversed(iterator)) {
    size_t length = first_length(iterator), taken = iterator->position;
    return taken < length && length - 1 - taken < iterator->iterated->items.size() ? length : taken;
  }
  if (is_over_dict(iterator)) return iterator->keys.size();
  bool live = iterator->iterated && iterator->iterated->kind == AbstractKind::list;
  return live ? iterator->iterated->items.size() : iterator->items.size();
}

Result<Condition> supply_of_container(const Ref& iterator) {
  const Ref& container = iterator->iterated;
  if (container && is_dynamic_list(container)) return fail(Reason::unsupported_value, "an iterator over a list that changes");
  if (is_over_dict(iterator) && has_other_keys(iterator)) {
    return fail(Reason::will_raise, "the dict changed its keys during iteration");
  }
  return known_condition(iterator->position < known_count(iterator));
}

// zip(strict=True): requires that all iterators have a next item or all are exhausted.
Status require_one_length(const std::vector<Condition>& conditions) {
  for (const Condition& condition : conditions) {
    if (!condition.known)
      return fail(Reason::unsupported_argument,
                  "zip(strict=True) of lengths known at run time; plain form: a test of the lengths, then zip without strict");
    if (condition.known != conditions[0].known) return fail(Reason::will_raise, "zip: the iterables have different lengths");
  }
  return Unit{};
}

Result<Condition> supply_of_zip(Capture& capture, const Ref& iterator) {
  std::vector<Condition> conditions;
  bool known = true;
  for (const Ref& below : iterator->items) {
    // A generator runs only if the iterators before it have an item.
    if (below->kind == AbstractKind::generator && !known) return fail(Reason::generator, "zip of a generator");
    ACCEL_TRY(Condition condition, supply(capture, below));
    known = known && condition.known;
    bool ended = condition.known && !*condition.known;
    if (known && ended && iterator->keys.empty()) return condition;
    conditions.push_back(std::move(condition));
  }
  if (conditions.empty()) return known_condition(false);
  if (!iterator->keys.empty()) {
    ACCEL_TRY([[maybe_unused]] Unit same, require_one_length(conditions));
  }
  Condition all = known_condition(true);
  for (const Condition& condition : conditions) all = both(capture, all, condition);
  return all;
}

bool is_over_container(const Ref& iterator) { return !iterator->object || is_reversed(iterator); }

// Runs the generator to its next item, which is stored in `iterated` until it is taken.
Result<Condition> supply_of_generator(Capture& capture, const Ref& generator) {
  if (generator->iterated) return known_condition(true);
  ACCEL_TRY(std::optional<Ref> item, capture.next_of_generator(generator));
  if (item) generator->iterated = *item;
  return known_condition(item.has_value());
}

}  // namespace

Result<Condition> supply(Capture& capture, const Ref& iterator) {
  if (iterator->kind == AbstractKind::generator) return supply_of_generator(capture, iterator);
  if (iterator->kind != AbstractKind::iterator) return fail(Reason::unsupported_value, "not an iterator of a known container");
  if (is_over_container(iterator)) return supply_of_container(iterator);
  if (is_kind(iterator, enumerate_class())) return supply(capture, iterator->items[0]);
  if (is_kind(iterator, zip_class())) return supply_of_zip(capture, iterator);
  Relation more;
  if (is_kind(iterator, range_class())) {
    RangeState state = range_state(capture, iterator);
    more = {state.item, state.stop, state.forward ? Comparison::lt : Comparison::gt};
  } else if (is_product(iterator)) {
    more = {products_taken(capture, iterator), length_of_product(capture, iterator), Comparison::lt};
  } else if (is_kind(iterator, list_class())) {
    more = {items_taken(capture, iterator), length_of(capture, iterator->items[0]), Comparison::lt};
  } else {
    more = {rows_taken(capture, iterator), iterator->items[0]->array.layout.shape[0], Comparison::lt};
  }
  if (iterator->position == 0) return condition_of(capture, more);
  return known_condition(capture.facts().decide(more.left, more.comparison, more.right));
}

Result<Ref> take(Capture& capture, const Ref& iterator) {
  if (iterator->kind == AbstractKind::generator) return std::exchange(iterator->iterated, nullptr);
  if (is_reversed(iterator)) return iterator->iterated->items[first_length(iterator) - 1 - iterator->position++];
  if (is_over_dict(iterator)) return entry_of_view(capture, iterator->iterated, iterator->position++);
  if (is_over_container(iterator)) {
    bool live = iterator->iterated && iterator->iterated->kind == AbstractKind::list;
    return (live ? iterator->iterated->items : iterator->items)[iterator->position++];
  }
  if (is_kind(iterator, range_class())) {
    RangeState state = range_state(capture, iterator);
    advance(capture, iterator);
    return capture.values().dim_scalar(item_of_range(capture, state));
  }
  if (is_kind(iterator, array_class())) {
    ACCEL_TRY(Ref item, get_item(capture, iterator->items[0], capture.values().dim_scalar(rows_taken(capture, iterator))));
    advance(capture, iterator);
    return item;
  }
  if (is_kind(iterator, list_class())) {
    ACCEL_TRY(Ref item,
              item_of_dynamic_list(capture, iterator->items[0], capture.values().dim_scalar(items_taken(capture, iterator))));
    advance(capture, iterator);
    return item;
  }
  if (is_product(iterator)) {
    ACCEL_TRY(Ref item, item_of_product(capture, iterator, products_taken(capture, iterator)));
    advance(capture, iterator);
    return item;
  }
  std::vector<Ref> parts;
  if (is_kind(iterator, enumerate_class())) {
    ACCEL_TRY(Ref item, take(capture, iterator->items[0]));
    parts = {iterator->items[1], std::move(item)};
    advance(capture, iterator);
  } else {
    for (const Ref& below : iterator->items) {
      ACCEL_TRY(Ref item, take(capture, below));
      parts.push_back(std::move(item));
    }
  }
  return capture.values().tuple(std::move(parts));
}

bool is_worth_rolling(Capture& capture, const Ref& iterator, bool in_library) {
  if (iterator->kind != AbstractKind::iterator || is_over_container(iterator)) return false;
  if (is_kind(iterator, enumerate_class()) || is_kind(iterator, zip_class())) {
    size_t count = is_kind(iterator, enumerate_class()) ? 1 : iterator->items.size();
    for (size_t i = 0; i < count; ++i) {
      if (!is_worth_rolling(capture, iterator->items[i], in_library)) return false;
    }
    return true;
  }
  std::optional<int64_t> rounds = constant_rounds(capture, iterator);
  return !rounds || (!in_library && *rounds >= rolled_rounds);
}

namespace {

bool are_few(Capture& capture, Dim distance, int64_t step) {
  if (auto constant = capture.dims().as_constant(distance)) return *constant / step <= few_rounds;
  return !capture.facts().is_runtime(distance) && capture.ranges().hint(distance) / step <= guarded_rounds;
}

}  // namespace

bool has_few_rounds(Capture& capture, const Ref& iterator) {
  if (is_over_container(iterator)) return known_count(iterator) <= few_rounds;
  if (is_kind(iterator, enumerate_class())) return has_few_rounds(capture, iterator->items[0]);
  if (is_kind(iterator, zip_class())) {
    return std::all_of(iterator->items.begin(), iterator->items.end(),
                       [&](const Ref& below) { return has_few_rounds(capture, below); });
  }
  if (is_kind(iterator, list_class())) return false;
  if (is_product(iterator)) return are_few(capture, length_of_product(capture, iterator), 1);
  if (is_kind(iterator, array_class())) {
    Dim rows = iterator->items[0]->array.layout.shape[0];
    return are_few(capture, rows, 1);
  }
  DimTable& dims = capture.dims();
  Dim start = integer(capture, iterator->items[0]), stop = integer(capture, iterator->items[1]);
  auto step = dims.as_constant(integer(capture, iterator->items[2]));
  return step && are_few(capture, distance_of(capture, start, stop, *step > 0), std::abs(*step));
}

bool has_known_rounds(Capture& capture, const Ref& iterator) {
  if (is_over_container(iterator)) return true;
  if (is_kind(iterator, enumerate_class())) return has_known_rounds(capture, iterator->items[0]);
  if (is_kind(iterator, zip_class())) {
    return std::any_of(iterator->items.begin(), iterator->items.end(),
                       [&](const Ref& below) { return has_known_rounds(capture, below); });
  }
  return constant_rounds(capture, iterator).has_value();
}

void evaluate_rounds(const Ref& iterator) {
  if (is_over_container(iterator)) return;
  if (is_kind(iterator, enumerate_class())) return evaluate_rounds(iterator->items[0]);
  if (is_kind(iterator, zip_class())) {
    for (const Ref& below : iterator->items) evaluate_rounds(below);
    return;
  }
  iterator->position = 1;
}

std::optional<int64_t> constant_rounds(Capture& capture, const Ref& iterator) {
  DimTable& dims = capture.dims();
  if (is_kind(iterator, list_class())) return std::nullopt;
  if (is_product(iterator)) return dims.as_constant(length_of_product(capture, iterator));
  if (is_kind(iterator, array_class())) return dims.as_constant(iterator->items[0]->array.layout.shape[0]);
  auto number = [&](size_t item) { return dims.as_constant(integer(capture, iterator->items[item])); };
  auto start = number(0), stop = number(1), step = number(2);
  if (!start || !stop || !step) return std::nullopt;
  int64_t distance = *step > 0 ? *stop - *start : *start - *stop, stride = *step > 0 ? *step : -*step;
  return distance <= 0 ? 0 : (distance + stride - 1) / stride;
}

Result<IteratorParts> iterator_parts(Capture& capture, const Ref& iterator) {
  IteratorParts parts;
  if (is_reversed(iterator)) {
    if (iterator->iterated->items.size() != first_length(iterator))
      return fail(Reason::unsupported_value, "a reversed list of another length than before");
    parts.callable = iterator->object;
    parts.arguments = {iterator->iterated};
    parts.taken = static_cast<int>(iterator->position);
    return parts;
  }
  if (is_over_dict(iterator)) {
    if (has_other_keys(iterator)) return fail(Reason::unsupported_value, "an iterator over a dict with other keys than before");
    const Ref& view = iterator->iterated;
    if (capture.changes().is_changed(view->items[0]) && capture.changes().added_keys(view->items[0]) > 0)
      return fail(Reason::unsupported_value, "an iterator over a dict of the caller's that has got a new key");
    parts.callable =
        PyRef::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(&PyDict_Type), view_names[view->position]));
    parts.arguments = {view->items[0]};
    parts.taken = static_cast<int>(iterator->position);
    return parts;
  }
  if (is_over_container(iterator)) {
    Ref container = iterator->iterated;
    if (container == nullptr) {
      const std::vector<Ref>& items = iterator->items;
      auto next = items.begin() + static_cast<std::ptrdiff_t>(std::min(iterator->position, items.size()));
      container = capture.values().tuple({next, items.end()});
      parts.callable = PyRef::borrow(reinterpret_cast<PyObject*>(&PyTuple_Type));
    }
    parts.arguments = {std::move(container)};
    return parts;
  }
  if (is_kind(iterator, array_class()) || is_kind(iterator, list_class())) {
    parts.arguments = iterator->items;
    return parts;
  }
  if (!iterator->keys.empty()) return fail(Reason::unsupported_value, "zip(strict=True)");
  if (is_product(iterator)) return parts_of_product(capture, iterator);
  parts.callable = iterator->object;
  parts.arguments = iterator->items;
  if (is_kind(iterator, range_class())) {
    DimTable& dims = capture.dims();
    Dim start = integer(capture, iterator->items[0]), count = integer(capture, iterator->items[3]);
    Dim step = integer(capture, iterator->items[2]);
    parts.arguments = {capture.values().dim_scalar(dims.add(start, dims.mul(count, step))), iterator->items[1],
                       iterator->items[2]};
  }
  return parts;
}

Result<std::optional<Ref>> next_item(Capture& capture, const Ref& iterator) {
  ACCEL_TRY(Condition more, supply(capture, iterator));
  if (!more.known) return fail(Reason::data_dependent_branch, "an iteration whose length is known at run time only");
  if (!*more.known) return std::optional<Ref>();
  ACCEL_TRY(Ref item, take(capture, iterator));
  return std::optional<Ref>(std::move(item));
}

Status for_each_item(Capture& capture, const Ref& value, const std::function<Status(const Ref&)>& use) {
  ACCEL_TRY(Ref iterator, get_iterator(capture, value));
  for (size_t count = 0; count < static_cast<size_t>(most_turns); ++count) {
    ACCEL_TRY(std::optional<Ref> item, next_item(capture, iterator));
    if (!item) return Unit{};
    ACCEL_TRY([[maybe_unused]] Unit used, use(*item));
  }
  return fail(Reason::capture_budget, "an iteration that is too long");
}

namespace {

// The rows of an array, if their number is the same in all calls of this version; nullopt: it is not, or there are many.
Result<std::optional<std::vector<Ref>>> rows_of(Capture& capture, const Ref& array) {
  constexpr int64_t most_rows = 32;
  const std::vector<Dim> shape = layout_of(array).shape;
  std::vector<Ref> rows;
  int64_t count = shape.empty() || capture.facts().is_runtime(shape[0]) ? -1 : capture.ranges().hint(shape[0]);
  bool fixed = count >= 0 && count <= most_rows && capture.facts().decide_equal(shape[0], capture.dims().constant(count));
  if (!fixed) return std::optional<std::vector<Ref>>();
  for (int64_t k = 0; k < count; ++k) {
    ACCEL_TRY(Ref row, get_item(capture, array, capture.values().python_int(k)));
    rows.push_back(std::move(row));
  }
  return std::optional(std::move(rows));
}

}  // namespace

Result<std::vector<Ref>> all_items(Capture& capture, const Ref& value) {
  capture.resolver().look(value);
  if (value->kind == AbstractKind::tuple || value->kind == AbstractKind::list) return value->items;
  if (value->kind == AbstractKind::array) {
    ACCEL_TRY(auto rows, rows_of(capture, value));
    if (rows) return std::move(*rows);
  }
  std::vector<Ref> items;
  ACCEL_TRY([[maybe_unused]] Unit taken, for_each_item(capture, value, [&](const Ref& item) -> Status {
              items.push_back(item);
              return Unit{};
            }));
  return items;
}

}  // namespace accel
