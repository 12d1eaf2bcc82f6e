#pragma once
// Iterators: whether there is a next item, and what it is. iterators.cpp lists their kinds.

#include "capture/protocol/conditions.h"

namespace accel {

constexpr Py_ssize_t most_turns = 1 << 16;  // iterations that capture evaluates at most

// Whether there is a next item.
Result<Condition> supply(Capture& capture, const Ref& iterator);
// The next item; advances the iterator. Requires that there is one.
Result<Ref> take(Capture& capture, const Ref& iterator);

// Whether a loop over it should become a loop of the graph. A small constant number of iterations is evaluated at capture; in
// library code any constant number is.
bool is_worth_rolling(Capture& capture, const Ref& iterator, bool in_library);
// Whether a loop over it may be evaluated at capture if it cannot become a loop of the graph.
bool has_few_rounds(Capture& capture, const Ref& iterator);
// Whether the number of iterations is a constant.
bool has_known_rounds(Capture& capture, const Ref& iterator);
// The number of items that a loop over a range or an array has consumed.
std::optional<Dim> rounds_so_far(Capture& capture, const Ref& iterator);
// The total number of items.
std::optional<Dim> all_rounds(Capture& capture, const Ref& iterator);
// Marks the iterator as evaluated at capture: guards decide whether there is a next item.
void evaluate_rounds(const Ref& iterator);
// The number of items of an iterator over a range or an array, where it is a constant.
std::optional<int64_t> constant_rounds(Capture& capture, const Ref& iterator);

// How to rebuild a partly consumed iterator: iter(callable(*arguments)) advanced `taken` times; without a callable
// iter(arguments[0]) advanced by the number of consumed items, or set to the index arguments[1].
struct IteratorParts {
  PyRef callable;
  std::vector<Ref> arguments;
  int taken = 0;
};
Result<IteratorParts> iterator_parts(Capture& capture, const Ref& iterator);

// range(*bounds); guards on sizes ensure that its values fit int64.
Result<Ref> range_of(Capture& capture, std::vector<Ref> bounds);
// A constant range object as an abstract range.
Result<Ref> constant_range(Capture& capture, PyObject* object);
// The range that iterates over the items of `range` in reverse.
Result<Ref> reversed_range(Capture& capture, const Ref& range);
// reversed(container) of a list or tuple.
Ref reversed_container(Capture& capture, const Ref& container);
// An iterator of the kind that the class `callable` (borrowed) denotes, with its items.
Ref make_lazy_iterator(PyObject* callable, std::vector<Ref> items);

}  // namespace accel
