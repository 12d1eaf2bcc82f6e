#pragma once
// Iterators over products of ranges: itertools.product, numpy.ndindex and numpy.ndenumerate. `object` is the class; items are
// the ranges, slowest first, then the number of consumed items; `iterated` is the array of an ndenumerate.

#include "capture/protocol/iterators.h"

namespace accel {

bool is_product(const Ref& iterator);
Ref make_product(Capture& capture, PyObject* callable, std::vector<Ref> ranges, Ref array = nullptr);
// The total number of items.
Dim length_of_product(Capture& capture, const Ref& iterator);
// The item after `taken` others. Requires that there is one.
Result<Ref> item_of_product(Capture& capture, const Ref& iterator, Dim taken);
// itertools.product(*ranges, repeat=repeat) if some length is known at run time only; null: otherwise.
Result<Ref> product_of_ranges(Capture& capture, PyObject* callable, const CallArguments& arguments, int64_t repeat);
// How an exit rebuilds the iterator at its current position.
IteratorParts parts_of_product(Capture& capture, const Ref& iterator);

}  // namespace accel
