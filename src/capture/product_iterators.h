#pragma once
// Iterators over products of ranges: itertools.product, numpy.ndindex and numpy.ndenumerate. `object` is the class, items are
// the ranges, slowest first, and the number of items taken; of ndenumerate `iterated` is the array.

#include "capture/capture.h"

namespace accel {

bool is_product(const Ref& iterator);
Ref make_product(Capture& capture, PyObject* callable, std::vector<Ref> ranges, Ref array = nullptr);
// The number of all items.
Dim length_of_product(Capture& capture, const Ref& iterator);
// The item behind `taken` others, of which there is one.
Result<Ref> item_of_product(Capture& capture, const Ref& iterator, Dim taken);
// itertools.product(*ranges, repeat=repeat), of which a length is known at run time only; null: another product.
Result<Ref> product_of_ranges(Capture& capture, PyObject* callable, const CallArguments& arguments, int64_t repeat);
// What its class is called with.
std::vector<Ref> arguments_of_product(Capture& capture, const Ref& iterator);
// A product that stands at its beginning, of which `taken` items are to be left out (itertools.islice).
PyRef islice();

}  // namespace accel
