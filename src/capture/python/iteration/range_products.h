#pragma once
// Iterators over products of ranges: itertools.product, numpy.ndindex and numpy.ndenumerate. `object` is the class, items are
// the ranges, slowest first, and the number of items taken; of ndenumerate `iterated` is the array.

#include "capture/protocol/iterators.h"

namespace accel {

bool is_product(const Ref& iterator);
Ref make_product(Capture& capture, PyObject* callable, std::vector<Ref> ranges, Ref array = nullptr);
// The number of all items.
Dim length_of_product(Capture& capture, const Ref& iterator);
// The item behind `taken` others, of which there is one.
Result<Ref> item_of_product(Capture& capture, const Ref& iterator, Dim taken);
// itertools.product(*ranges, repeat=repeat), of which a length is known at run time only; null: another product.
Result<Ref> product_of_ranges(Capture& capture, PyObject* callable, const CallArguments& arguments, int64_t repeat);
// How to make it where it stands.
IteratorParts parts_of_product(Capture& capture, const Ref& iterator);

}  // namespace accel
