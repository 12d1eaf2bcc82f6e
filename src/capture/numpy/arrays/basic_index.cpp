// Basic indexing: integers, slices, newaxis and Ellipsis give views or scalars.

#include "capture/numpy/arrays/basic_index.h"

#include <algorithm>

#include "capture/numpy/arrays/creation.h"
#include "capture/numpy/arrays/views.h"
#include "capture/protocol/arguments.h"
#include "capture/protocol/numpy_calls.h"
#include "capture/protocol/ufunc_calls.h"
#include "capture/python/containers/dynamic_lists.h"
#include "ndarray/array.h"

namespace accel {

namespace {

// The range that a slice selects on one axis.
struct Cut {
  Dim start, step, extent;
};

// A bound of a slice after Python's clamping to [low, high].
Dim clamp_bound(Capture& capture, Dim bound, Dim extent, Dim low, Dim high) {
  DimTable& dims = capture.dims();
  bound = capture.facts().from_start(bound, extent, true);
  if (capture.facts().is_runtime(bound)) {
    if (!capture.facts().prove(dims.sub(bound, low))) bound = dims.max(bound, low);
    return capture.facts().prove(dims.sub(high, bound)) ? bound : dims.min(bound, high);
  }
  if (capture.facts().decide(bound, Comparison::lt, low)) return low;
  return capture.facts().decide(bound, Comparison::gt, high) ? high : bound;
}

// ceil(distance / step) for positive distance and step.
Dim steps_in(DimTable& dims, Dim distance, Dim step) {
  Dim one = dims.constant(1);
  return step == one ? distance : dims.floordiv(dims.sub(dims.add(distance, step), one), step);
}

Result<std::optional<Dim>> read_bound(Capture& capture, const Ref& ref) {
  if (is_none(ref)) return std::optional<Dim>();
  ACCEL_TRY(Dim bound, read_dim(capture, ref));
  return std::optional<Dim>(bound);
}

// The step of a slice: a constant unless it is known at run time only.
Result<Dim> read_step(Capture& capture, const Ref& ref) {
  if (is_none(ref)) return capture.dims().constant(1);
  ACCEL_TRY(Dim step, read_dim(capture, ref));
  if (capture.facts().is_runtime(step)) return step;
  ACCEL_TRY(int64_t known, capture.constants().require_int(ref));
  return capture.dims().constant(known);
}

Result<Cut> cut_by_slice(Capture& capture, const Ref& slice, Dim extent) {
  DimTable& dims = capture.dims();
  Dim zero = dims.constant(0), one = dims.constant(1);
  ACCEL_TRY(Dim step, read_step(capture, slice->items[2]));
  bool forward = capture.facts().decide(step, Comparison::gt, zero);
  if (!forward && !capture.facts().decide(step, Comparison::lt, zero))
    return fail(Reason::will_raise, "slice step cannot be zero");
  ACCEL_TRY(auto start, read_bound(capture, slice->items[0]));
  ACCEL_TRY(auto stop, read_bound(capture, slice->items[1]));
  Dim low = forward ? zero : dims.constant(-1), high = forward ? extent : dims.sub(extent, one);
  Dim first = start ? clamp_bound(capture, *start, extent, low, high) : forward ? low : high;
  Dim last = stop ? clamp_bound(capture, *stop, extent, low, high) : forward ? high : low;
  Dim distance = forward ? dims.sub(last, first) : dims.sub(first, last), stride = forward ? step : dims.sub(zero, step);
  // A whole axis needs no guard, whatever its extent is.
  if (step == one && distance == extent) return Cut{zero, one, extent};
  if (step == dims.constant(-1) && distance == extent && !capture.facts().decide(extent, Comparison::gt, zero))
    return Cut{zero, one, zero};
  if (step == one && capture.facts().is_runtime(distance)) {
    return Cut{first, one, capture.facts().prove(distance) ? distance : dims.max(distance, zero)};
  }
  if ((capture.facts().is_runtime(distance) || capture.facts().is_runtime(step)) &&
      !capture.facts().prove(dims.sub(distance, one))) {
    if (!forward && !capture.facts().prove(first)) first = dims.max(first, zero);
    return Cut{first, step, dims.max(steps_in(dims, distance, stride), zero)};
  }
  if (!capture.facts().decide(distance, Comparison::gt, zero)) return Cut{zero, one, zero};
  return Cut{first, step, steps_in(dims, distance, stride)};
}

Result<Cut> cut_by_integer(Capture& capture, const Ref& index, Dim extent) {
  DimTable& dims = capture.dims();
  ACCEL_TRY(Dim at, read_dim(capture, index));
  if (capture.facts().is_runtime(at) && !capture.facts().prove(at) && capture.facts().prove(dims.add(at, extent)) &&
      capture.facts().prove(dims.sub(dims.sub(extent, dims.constant(1)), at))) {
    return Cut{dims.mod(at, extent), dims.constant(1), dims.constant(1)};
  }
  at = capture.facts().from_start(at, extent, true);
  if (!capture.facts().expect(at, Comparison::ge, dims.constant(0)) || !capture.facts().expect(at, Comparison::lt, extent)) {
    return fail(Reason::will_raise, "an index is out of bounds");
  }
  return Cut{at, dims.constant(1), dims.constant(1)};
}

bool is_integer(Capture& capture, const Ref& ref) {
  auto operand = as_operand(capture, ref);
  if (!operand || operand->is_array()) return false;
  if (operand->type.kind == OperandType::Kind::numpy_scalar) {
    return is_integer_dtype(operand->type.dtype);
  }
  return operand->type.kind == OperandType::Kind::py_int;
}

// A 0-d integer array as an index is an integer whose result is a copy.
Ref scalar_of(Capture& capture, const Ref& array) {
  ValueId value =
      capture.build().pointwise(Op::astype, {capture.memory().read(array)}, {DType::int64}, ValueKind::numpy_scalar);
  return capture.values().scalar(value);
}

Result<IndexPart> array_part(Capture& capture, const Ref& array) {
  const StridedLayout& layout = layout_of(array);
  if (layout.dtype != DType::bool_ && !is_integer_dtype(layout.dtype)) {
    return fail(Reason::will_raise, "arrays used as indices must be of integer (or boolean) type");
  }
  bool mask = layout.dtype == DType::bool_;
  if (!layout.shape.empty()) {
    return IndexPart{mask ? IndexKind::mask : IndexKind::indices, array, mask ? static_cast<int>(layout.shape.size()) : 1};
  }
  if (mask) return fail(Reason::unsupported_index, "a bool as index");
  return IndexPart{IndexKind::integer, scalar_of(capture, array), 1, true};
}

// An empty sequence is an array of floats, but a valid index.
Result<IndexPart> sequence_part(Capture& capture, const Ref& item) {
  ACCEL_TRY(Ref array, array_of_sequence(capture, item, std::nullopt));
  DimTable& dims = capture.dims();
  const StridedLayout& layout = layout_of(array);
  bool empty = std::any_of(layout.shape.begin(), layout.shape.end(), [&](Dim d) { return dims.is_constant(d, 0); });
  if (empty) array = capture.values().fresh_array(capture.values().astype(capture.memory().read(array), DType::int64));
  return array_part(capture, array);
}

Result<IndexPart> part_of(Capture& capture, const Ref& item) {
  capture.resolver().look(item);
  if (item->kind == AbstractKind::slice) return IndexPart{IndexKind::slice, item, 1};
  if (is_object(item, Py_None)) return IndexPart{IndexKind::newaxis, item, 0};
  if (is_object(item, Py_Ellipsis)) return IndexPart{IndexKind::ellipsis, item, 0};
  if (is_integer(capture, item)) return IndexPart{IndexKind::integer, item, 1};
  if (item->kind == AbstractKind::array) return array_part(capture, item);
  if (is_array_sequence(item)) return sequence_part(capture, item);
  return fail(Reason::unsupported_index, "an index that is no integer, slice, newaxis, Ellipsis or array");
}

// The effect of an index on the axes of an array.
struct IndexPlan {
  std::vector<Cut> cuts;     // per operand axis
  std::vector<int> dropped;  // operand axes consumed by integers
  std::vector<int> added;    // result axes made by newaxis
  int rank = 0;              // of the result
  bool scalar = true;        // an integer for every axis and nothing else
};

Result<IndexPlan> plan_index(Capture& capture, const StridedLayout& from, const std::vector<IndexPart>& parts) {
  IndexPlan plan;
  for (const IndexPart& part : parts) {
    plan.scalar = plan.scalar && part.kind == IndexKind::integer;
    auto axis = static_cast<int>(plan.cuts.size());
    if (part.kind == IndexKind::newaxis) {
      plan.added.push_back(plan.rank++);
    } else if (part.kind == IndexKind::slice) {
      ACCEL_TRY(Cut cut, cut_by_slice(capture, part.ref, from.shape[static_cast<size_t>(axis)]));
      plan.cuts.push_back(cut);
      ++plan.rank;
    } else if (part.kind == IndexKind::integer) {
      plan.dropped.push_back(axis);
      ACCEL_TRY(Cut cut, cut_by_integer(capture, part.ref, from.shape[static_cast<size_t>(axis)]));
      plan.cuts.push_back(cut);
    } else {
      for (int k = 0; k < part.axes; ++k, ++plan.rank)
        plan.cuts.push_back({capture.dims().constant(0), capture.dims().constant(1), from.shape[plan.cuts.size()]});
    }
  }
  return plan;
}

StridedLayout layout_after(DimTable& dims, const StridedLayout& from, const IndexPlan& plan) {
  StridedLayout layout{{}, {}, from.offset, from.dtype};
  for (size_t k = 0; k < plan.cuts.size(); ++k) {
    const Cut& cut = plan.cuts[k];
    layout.offset = dims.add(layout.offset, dims.mul(cut.start, from.strides[k]));
    if (std::binary_search(plan.dropped.begin(), plan.dropped.end(), static_cast<int>(k))) continue;
    layout.shape.push_back(cut.extent);
    layout.strides.push_back(dims.mul(cut.step, from.strides[k]));
  }
  for (int axis : plan.added) {
    layout.shape.insert(layout.shape.begin() + axis, dims.constant(1));
    layout.strides.insert(layout.strides.begin() + axis, dims.constant(0));
  }
  return layout;
}

bool cuts_anything(const IndexPlan& plan, const StridedLayout& from, DimTable& dims) {
  for (size_t k = 0; k < plan.cuts.size(); ++k) {
    const Cut& cut = plan.cuts[k];
    if (cut.extent != from.shape[k] || !dims.is_constant(cut.start, 0) || !dims.is_constant(cut.step, 1)) return true;
  }
  return false;
}

Result<Ref> view_by_plan(Capture& capture, const Ref& self, const IndexPlan& plan) {
  const StridedLayout from = layout_of(self);
  ViewMaker view(capture, self);
  if (cuts_anything(plan, from, capture.dims())) {
    std::vector<Dim> starts, steps, extents;
    for (const Cut& cut : plan.cuts) {
      starts.push_back(cut.start);
      steps.push_back(cut.step);
      extents.push_back(cut.extent);
    }
    view.slice(std::move(starts), std::move(steps), std::move(extents));
  }
  if (!plan.dropped.empty()) view.squeeze(plan.dropped);
  if (plan.scalar) return wrap_result(capture, capture.build().pointwise(Op::astype, {view.value()}, {from.dtype}), false);
  if (!plan.added.empty()) view.expand_dims(plan.added);
  return view.finish(layout_after(capture.dims(), from, plan));
}

}  // namespace

bool has_advanced(const std::vector<IndexPart>& parts) { return std::any_of(parts.begin(), parts.end(), is_advanced); }

Result<std::vector<IndexPart>> index_parts(Capture& capture, const Ref& array, const Ref& index) {
  capture.resolver().look(index);
  std::vector<Ref> items = {index};
  if (index->kind == AbstractKind::tuple) items = index->items;
  auto rank = static_cast<int>(layout_of(array).shape.size());
  std::vector<IndexPart> parts;
  int taken = 0, ellipses = 0;
  for (const Ref& item : items) {
    ACCEL_TRY(IndexPart part, part_of(capture, item));
    taken += part.axes;
    ellipses += part.kind == IndexKind::ellipsis;
    parts.push_back(std::move(part));
  }
  if (ellipses > 1 || taken > rank) return fail(Reason::will_raise, "too many indices for array");
  if (ellipses == 0 && taken < rank) parts.push_back({IndexKind::ellipsis, nullptr, 0});
  for (IndexPart& part : parts) {
    if (part.kind == IndexKind::ellipsis) part.axes = rank - taken;
  }
  return parts;
}

Result<Ref> basic_view(Capture& capture, const Ref& array, const std::vector<IndexPart>& parts) {
  ACCEL_TRY(IndexPlan plan, plan_index(capture, layout_of(array), parts));
  plan.scalar = false;
  return view_by_plan(capture, array, plan);
}

Result<Ref> array_getitem(Capture& capture, const Ref& self, const Ref& index) {
  if (self->kind != AbstractKind::array) return fail(Reason::unsupported_index, "an index into a scalar");
  ACCEL_TRY(std::vector<IndexPart> parts, index_parts(capture, self, index));
  if (has_advanced(parts)) return advanced_getitem(capture, self, parts);
  ACCEL_TRY(IndexPlan plan, plan_index(capture, layout_of(self), parts));
  ACCEL_TRY(Ref view, view_by_plan(capture, self, plan));
  bool copies = std::any_of(parts.begin(), parts.end(), [](const IndexPart& part) { return part.copies; });
  if (!copies || view->kind != AbstractKind::array) return view;
  return copied(capture, capture.memory().read(view), copy_order(capture, view));
}

}  // namespace accel
