#pragma once
// The classes that the kinds of iterators (iterators.cpp) have as `object`, and arithmetic of those over ranges.

#include <algorithm>

#include "capture/protocol/arguments.h"
#include "ndarray/array.h"

namespace accel {

inline PyObject* range_class() { return reinterpret_cast<PyObject*>(&PyRange_Type); }
inline PyObject* array_class() { return reinterpret_cast<PyObject*>(array_type()); }
inline PyObject* list_class() { return reinterpret_cast<PyObject*>(&PyList_Type); }
inline PyObject* reversed_class() { return reinterpret_cast<PyObject*>(&PyReversed_Type); }
inline PyObject* enumerate_class() { return reinterpret_cast<PyObject*>(&PyEnum_Type); }
inline PyObject* zip_class() { return reinterpret_cast<PyObject*>(&PyZip_Type); }

// An int as a Dim. Requires a value that has one.
inline Dim integer(Capture& capture, const Ref& value) { return read_dim(capture, value).value(); }

inline bool is_forward(Capture& capture, Dim step) {
  return capture.facts().decide(step, Comparison::gt, capture.dims().constant(0));
}

// The distance from the next item of a range to its end, in the direction of the step.
inline Dim distance_of(Capture& capture, Dim start, Dim stop, bool forward) {
  return forward ? capture.dims().sub(stop, start) : capture.dims().sub(start, stop);
}

// `item`, which is between start and stop, bound to a symbol of its own, because nothing can be proved about products,
// quotients and remainders.
inline Dim bound_item(Capture& capture, Dim item, Dim start, Dim stop, bool forward) {
  double low = std::min(capture.ranges().low(start), capture.ranges().low(stop)),
         high = std::max(capture.ranges().high(start), capture.ranges().high(stop));
  Dim bound = capture.facts().bind_dim(capture.build().dim(item), "item", capture.ranges().hint(start), low, high);
  capture.facts().assume({bound, start, forward ? Comparison::ge : Comparison::le});
  capture.facts().assume({bound, stop, forward ? Comparison::lt : Comparison::gt});
  return bound;
}

}  // namespace accel
