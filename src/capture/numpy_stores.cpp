// Stores into fresh arrays, whole or through views of them. A store into a part yields the whole array anew: the old contents
// before and behind the part, joined with what is stored.

#include <algorithm>

#include "capture/numpy_ufunc.h"
#include "capture/numpy_views.h"

namespace accel {

namespace {

// Stores into parts copy the rest; NumPy does not. So many are left to NumPy.
constexpr int most_partial_stores = 16;

bool has_unit_steps(const DimTable& dims, const ViewStep& step) {
  return std::all_of(step.attrs.steps.begin(), step.attrs.steps.end(),
                     [&](Dim d) { return dims.is_constant(d, 1) || dims.is_constant(d, -1); });
}

bool is_invertible(const DimTable& dims, const ViewStep& step) {
  switch (step.op) {
    case Op::transpose:
    case Op::squeeze:
    case Op::expand_dims:
    case Op::reshape:
      return true;
    case Op::slice:
      return has_unit_steps(dims, step);
    default:
      return false;
  }
}

// The part of one axis.
ValueId cut(Capture& capture, ValueId value, size_t axis, Dim start, Dim extent, int64_t step = 1) {
  DimTable& dims = capture.dims();
  std::vector<Dim> extents = capture.graph().type(value).shape;
  if (extents[axis] == extent && dims.is_constant(start, 0) && step == 1) return value;
  std::vector<Dim> starts(extents.size(), dims.constant(0)), steps(extents.size(), dims.constant(1));
  starts[axis] = start;
  steps[axis] = dims.constant(step);
  extents[axis] = extent;
  return capture.build().slice(value, std::move(starts), std::move(steps), std::move(extents));
}

// Replays a view's ops on memory and puts new contents back.
class Replacement {
 public:
  Replacement(Capture& capture, const std::vector<ViewStep>& path) : capture_(capture), path_(path) {}

  // `whole` with the view's elements replaced by `value`.
  ValueId put(ValueId whole, ValueId value, size_t at = 0) {
    if (at == path_.size()) return value;
    return put_back(path_[at], whole, put(show(path_[at], whole), value, at + 1));
  }

 private:
  Builder& build() { return capture_.build(); }
  const std::vector<Dim>& shape(ValueId v) { return capture_.graph().type(v).shape; }

  ValueId show(const ViewStep& step, ValueId value) {
    switch (step.op) {
      case Op::transpose:
        return build().transpose(value, step.attrs.axes);
      case Op::squeeze:
        return build().squeeze(value, step.attrs.axes);
      case Op::expand_dims:
        return build().expand_dims(value, step.attrs.axes);
      case Op::slice:
        return build().slice(value, step.attrs.dims, step.attrs.steps, step.type.shape);
      default:
        return with_shape(capture_, value, step.type.shape);
    }
  }

  ValueId put_back(const ViewStep& step, ValueId whole, ValueId value) {
    switch (step.op) {
      case Op::transpose: {
        std::vector<int> axes(step.attrs.axes.size());
        for (size_t k = 0; k < axes.size(); ++k) axes[static_cast<size_t>(step.attrs.axes[k])] = static_cast<int>(k);
        return build().transpose(value, std::move(axes));
      }
      case Op::squeeze:
        return build().expand_dims(value, step.attrs.axes);
      case Op::expand_dims:
        return build().squeeze(value, step.attrs.axes);
      case Op::slice:
        return fill_box(step, whole, value, 0);
      default:
        return with_shape(capture_, value, shape(whole));
    }
  }

  // Replaces the box that the slice cuts out, axis by axis.
  ValueId fill_box(const ViewStep& step, ValueId whole, ValueId value, size_t axis) {
    if (axis == step.type.shape.size()) return value;
    DimTable& dims = capture_.dims();
    Dim start = step.attrs.dims[axis], extent = step.type.shape[axis], full = shape(whole)[axis];
    if (dims.is_constant(extent, 0)) return whole;
    if (dims.is_constant(step.attrs.steps[axis], -1)) {
      Dim last = dims.sub(extent, dims.constant(1));
      value = cut(capture_, value, axis, last, extent, -1);
      start = dims.sub(start, last);
    }
    Dim end = dims.add(start, extent);
    ValueId middle = fill_box(step, cut(capture_, whole, axis, start, extent), value, axis + 1);
    std::vector<ValueId> parts;
    if (!dims.is_constant(start, 0)) parts.push_back(cut(capture_, whole, axis, dims.constant(0), start));
    parts.push_back(middle);
    if (end != full) parts.push_back(cut(capture_, whole, axis, end, dims.sub(full, end)));
    if (parts.size() == 1) return middle;
    ValueId joined = build().concatenate(parts, static_cast<int>(axis));
    return with_shape(capture_, joined, shape(whole));
  }

  Capture& capture_;
  const std::vector<ViewStep>& path_;
};

}  // namespace

Status check_storable(Capture& capture, const Ref& out) {
  capture.look(out);
  const ArrayState& state = out->array;
  if (state.storage->source >= 0) return fail(Reason::store_to_argument, "a store into an array that Python can reach");
  if (!state.writeable) return fail(Reason::will_raise, "the array is read-only");
  if (state.path.empty()) return Unit{};
  if (state.storage->version >= most_partial_stores)
    return fail(Reason::unsupported_index, "many stores into parts of an array");
  for (const ViewStep& step : state.path) {
    if (!is_invertible(capture.dims(), step)) return fail(Reason::unsupported_index, "a store into such a view");
  }
  return Unit{};
}

Result<Ref> store_result(Capture& capture, const Ref& out, ValueId value) {
  value = with_shape(capture, value, lens_of(out).shape);
  ArrayState& state = out->array;
  if (state.path.empty()) {
    ACCEL_TRY([[maybe_unused]] Unit stored, capture.store(out, value));
    return out;
  }
  Storage& storage = *state.storage;
  const Type memory = capture.graph().type(storage.current);
  bool number = capture.graph().type(value).rank() == 0 && !lens_of(out).shape.empty();
  if (number) value = capture.build().full(value, lens_of(out).shape);
  ValueId whole = Replacement(capture, state.path).put(storage.current, value);
  storage.current = capture.build().pointwise(Op::astype, {whole}, {memory.dtype}, ValueKind::array, memory.order);
  ++storage.version;
  capture.note_effect();
  state.value = value;
  state.version = storage.version;
  return out;
}

}  // namespace accel
