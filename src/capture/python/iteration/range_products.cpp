#include "capture/python/iteration/range_products.h"

#include <cstdlib>

#include "capture/protocol/builtin_calls.h"
#include "capture/python/iteration/iterator_kinds.h"
#include "cpython/imported.h"

namespace accel {

namespace {

struct Classes {
  PyRef product = imported_attribute("itertools", "product"), index = imported_attribute("numpy", "ndindex"),
        enumerate = imported_attribute("numpy", "ndenumerate"), islice = imported_attribute("itertools", "islice");
};

// Never freed.
const Classes& classes() {
  static const Classes* known = new Classes;
  return *known;
}

size_t range_count(const Ref& iterator) { return iterator->items.size() - 1; }

Dim length_of_range(Capture& capture, const Ref& range) {
  DimTable& dims = capture.dims();
  const int64_t step = *dims.as_constant(integer(capture, range->items[2]));
  Dim distance = distance_of(capture, integer(capture, range->items[0]), integer(capture, range->items[1]), step > 0);
  Dim stride = dims.constant(std::abs(step));
  if (std::abs(step) != 1) distance = dims.floordiv(dims.add(distance, dims.constant(std::abs(step) - 1)), stride);
  return capture.facts().knows(distance) ? distance : dims.max(distance, dims.constant(0));
}

// The item of a range at a valid position.
Ref range_item(Capture& capture, const Ref& range, Dim position) {
  Dim start = integer(capture, range->items[0]), stop = integer(capture, range->items[1]),
      step = integer(capture, range->items[2]);
  Dim item = capture.dims().add(start, capture.dims().mul(position, step));
  return capture.values().dim_scalar(bound_item(capture, item, start, stop, is_forward(capture, step)));
}

// A range with a constant step; null: another value.
Result<Ref> plain_range(Capture& capture, const Ref& value) {
  capture.resolver().look(value);
  Ref range = value;
  if (value->kind == AbstractKind::constant && PyRange_Check(value->object.get())) {
    ACCEL_TRY(range, constant_range(capture, value->object.get()));
  }
  if (range->kind != AbstractKind::range || !capture.dims().as_constant(integer(capture, range->items[2]))) return Ref();
  return range;
}

Result<std::vector<Ref>> ranges_over(Capture& capture, const std::vector<Ref>& extents) {
  std::vector<Ref> ranges;
  for (const Ref& extent : extents) {
    ACCEL_TRY(Ref range, range_of(capture, {extent}));
    ranges.push_back(std::move(range));
  }
  return ranges;
}

// The arguments with which the iterator's class makes it.
std::vector<Ref> call_arguments(Capture& capture, const Ref& iterator) {
  if (iterator->iterated) return {iterator->iterated};
  std::vector<Ref> ranges(iterator->items.begin(), iterator->items.end() - 1);
  if (iterator->object.get() == classes().product.get()) return ranges;
  for (Ref& range : ranges) range = range->items[1];
  return {capture.values().tuple(std::move(ranges))};
}

}  // namespace

bool is_product(const Ref& iterator) {
  PyObject* object = iterator->object.get();
  return object != nullptr &&
         (object == classes().product.get() || object == classes().index.get() || object == classes().enumerate.get());
}

Ref make_product(Capture& capture, PyObject* callable, std::vector<Ref> ranges, Ref array) {
  ranges.push_back(capture.values().python_int(0));
  Ref iterator = make_lazy_iterator(callable, std::move(ranges));
  iterator->iterated = std::move(array);
  return iterator;
}

Dim length_of_product(Capture& capture, const Ref& iterator) {
  Dim out = capture.dims().constant(1);
  for (size_t k = 0; k < range_count(iterator); ++k)
    out = capture.dims().mul(out, length_of_range(capture, iterator->items[k]));
  return out;
}

Result<Ref> item_of_product(Capture& capture, const Ref& iterator, Dim taken) {
  DimTable& dims = capture.dims();
  std::vector<Ref> item(range_count(iterator));
  for (size_t k = item.size(); k-- > 0;) {
    Dim length = dims.max(length_of_range(capture, iterator->items[k]), dims.constant(1));
    item[k] = range_item(capture, iterator->items[k], k == 0 ? taken : dims.mod(taken, length));
    taken = dims.floordiv(taken, length);
  }
  Ref at = capture.values().tuple(std::move(item));
  if (!iterator->iterated) return at;
  ACCEL_TRY(Ref element, get_item(capture, iterator->iterated, at));
  return capture.values().tuple({at, std::move(element)});
}

IteratorParts parts_of_product(Capture& capture, const Ref& iterator) {
  Dim count = integer(capture, iterator->items.back());
  if (capture.dims().is_constant(count, 0)) return {iterator->object, call_arguments(capture, iterator)};
  // itertools.islice skips the consumed items.
  Ref whole = std::make_shared<AbstractValue>(*iterator);
  whole->items.back() = capture.values().python_int(0);
  return {classes().islice, {std::move(whole), iterator->items.back(), capture.values().constant(Py_None)}};
}

Result<Ref> product_of_ranges(Capture& capture, PyObject* callable, const CallArguments& arguments, int64_t repeat) {
  std::vector<Ref> ranges;
  for (const Ref& argument : arguments.positional) {
    ACCEL_TRY(Ref range, plain_range(capture, argument));
    if (!range) return range;
    ranges.push_back(std::move(range));
  }
  std::vector<Ref> all;
  for (int64_t k = 0; k < repeat; ++k) all.insert(all.end(), ranges.begin(), ranges.end());
  Ref product = make_product(capture, callable, std::move(all));
  return capture.dims().as_constant(length_of_product(capture, product)) ? Ref() : product;
}

// numpy.ndindex(*shape)
Result<Ref> capture_ndindex(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 0, 32));
  std::vector<Ref> extents = arguments.positional;
  if (extents.size() == 1) {
    capture.resolver().look_deep(extents[0]);
    if (capture.values().type_of(extents[0]) == &PyTuple_Type) {
      ACCEL_TRY(extents, all_items(capture, extents[0]));
    }
  }
  for (const Ref& extent : extents) {
    if (capture.values().type_of(extent) != &PyLong_Type) return fail(Reason::unsupported_argument, "ndindex of no ints");
    ACCEL_TRY(Dim number, read_dim(capture, extent));
    if (!capture.facts().decide(number, Comparison::ge, capture.dims().constant(0)))
      return fail(Reason::will_raise, "negative dimensions are not allowed");
  }
  ACCEL_TRY(std::vector<Ref> ranges, ranges_over(capture, extents));
  return make_product(capture, callable, std::move(ranges));
}

// numpy.ndenumerate(array)
Result<Ref> capture_ndenumerate(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 1, 1));
  const Ref& array = arguments.positional[0];
  if (array->kind != AbstractKind::array) return fail(Reason::unsupported_argument, "ndenumerate of no array");
  std::vector<Ref> extents;
  for (Dim extent : array->array.layout.shape) extents.push_back(capture.values().dim_scalar(extent));
  ACCEL_TRY(std::vector<Ref> ranges, ranges_over(capture, extents));
  return make_product(capture, callable, std::move(ranges), array);
}

}  // namespace accel
