#pragma once
// Iterators: what they give next, and whether they have more. iterators.cpp says what kinds there are.

#include "capture/protocol/conditions.h"

namespace accel {

constexpr Py_ssize_t most_turns = 1 << 16;  // that capture works out

// Whether there is a next item.
Result<Condition> supply(Capture& capture, const Ref& iterator);
// The next item; advances. Requires that there is one.
Result<Ref> take(Capture& capture, const Ref& iterator);

// Whether a loop over it should be a loop of the graph. A small constant number of iterations is evaluated at capture, in a
// library any.
bool is_worth_rolling(Capture& capture, const Ref& iterator, bool in_library);
// Whether a loop over it may be evaluated at capture when it cannot be a loop of the graph.
bool has_few_rounds(Capture& capture, const Ref& iterator);
// Whether the number of iterations is a constant.
bool has_known_rounds(Capture& capture, const Ref& iterator);
// How many items a loop over a range or an array has taken.
std::optional<Dim> rounds_so_far(Capture& capture, const Ref& iterator);
// How many items it has in all.
std::optional<Dim> all_rounds(Capture& capture, const Ref& iterator);
// From now on guards decide whether there is a next item.
void evaluate_rounds(const Ref& iterator);
// Of an iterator over a range or an array.
std::optional<int64_t> constant_rounds(Capture& capture, const Ref& iterator);

// How to make the iterator where it stands: iter(callable(*arguments)) advanced `taken` times; without a callable
// iter(arguments[0]), advanced `position` times or to the index arguments[1].
struct IteratorParts {
  PyRef callable;
  std::vector<Ref> arguments;
  int taken = 0;
};
Result<IteratorParts> iterator_parts(Capture& capture, const Ref& iterator);

// range(*bounds); its values fit int64 (guards on the sizes see to it).
Result<Ref> range_of(Capture& capture, std::vector<Ref> bounds);
// The same of a range object.
Result<Ref> constant_range(Capture& capture, PyObject* object);
// What reversed(range) goes through.
Result<Ref> reversed_range(Capture& capture, const Ref& range);
// reversed(container) of a list or tuple.
Ref reversed_container(Capture& capture, const Ref& container);
// items: those of the kind of `callable` (borrowed).
Ref make_lazy_iterator(PyObject* callable, std::vector<Ref> items);

}  // namespace accel
