// Stores through masks and integer arrays.

#include <algorithm>
#include <numeric>

#include "capture/numpy/arrays/advanced_index.h"
#include "capture/numpy/arrays/creation.h"
#include "capture/numpy/arrays/selection.h"
#include "capture/numpy/arrays/views.h"
#include "capture/protocol/arguments.h"
#include "capture/protocol/masked_selection.h"
#include "capture/protocol/ufunc_calls.h"
#include "capture/python/containers/dynamic_lists.h"

namespace accel {

namespace {

// A value cast to elements of an array of `dtype`.
Result<ValueId> as_elements(Capture& capture, const Operand& value, DType dtype) {
  if (dtype_kind(value.type.dtype) == 'c' && dtype_kind(dtype) != 'c')
    return fail(Reason::floating_point_event, "NumPy's cast of complex numbers warns");
  return value.is_array() ? operand_value(capture, value, dtype) : fill_value(capture, value, dtype);
}

// The stored value as elements of `dtype` in this shape. Numbers are cast once, elements of arrays where they are stored;
// `ahead`: 0-d arrays are cast like numbers.
Result<ValueId> spread_elements(Capture& capture, const Operand& value, DType dtype, const std::vector<Dim>& shape,
                                bool ahead) {
  auto spread = [&](ValueId elements) {
    elements = broadcast_value(capture, elements, shape);
    bool number = capture.graph().type(elements).rank() == 0;
    return number ? capture.build().full(elements, shape) : elements;
  };
  if (value.is_array() && value.type.dtype != dtype && !(ahead && value.shape.empty())) {
    Ref elements = capture.values().fresh_array(spread(capture.memory().read(value.ref)));
    return as_elements(capture, {elements, value.type, shape}, dtype);
  }
  ACCEL_TRY(ValueId elements, as_elements(capture, value, dtype));
  return spread(elements);
}

Result<Ref> assigned(Capture& capture, const Ref& value, DType dtype) {
  if (!is_array_sequence(value)) return value;
  return array_of_sequence(capture, value, dtype);
}

// Whether arrays of `shape` broadcast to `target` without changing it.
Result<bool> spreads_to(Capture& capture, const std::vector<Dim>& shape, const std::vector<Dim>& target) {
  if (shape.size() > target.size()) return false;
  size_t extra = target.size() - shape.size();
  for (size_t k = 0; k < shape.size(); ++k) {
    Dim own = shape[k], wanted = target[k + extra];
    if (own == wanted || capture.dims().is_constant(own, 1)) continue;
    if (capture.facts().is_runtime(own) || capture.facts().is_runtime(wanted)) {
      Relation equal{own, wanted, Comparison::eq};
      ValueId holds = capture.facts().compare_at_run_time(equal, ValueKind::numpy_scalar);
      ACCEL_TRY([[maybe_unused]] Unit held, capture.require(holds, Reason::will_raise, "could not broadcast the value"));
      capture.facts().assume(equal);
      continue;
    }
    if (is_one(capture, own) || capture.facts().decide_equal(own, wanted)) continue;
    return fail(Reason::will_raise, "could not broadcast the value");
  }
  return true;
}

void replace_contents(Capture& capture, const Ref& array, ValueId contents) {
  Storage& storage = *array->array.storage;
  storage.current = contents;
  ++storage.version;
  capture.note_effect(storage.source >= 0);
}

// --- under one mask -------------------------------------------------------------------------------------------------------

// The value broadcast to the full shape, if none of its axes runs along the selected elements; else nullopt.
Result<std::optional<ValueId>> full_value(Capture& capture, const Ref& value, const Predicate& predicate,
                                          const std::vector<Dim>& shape, DType dtype) {
  if (is_masked_selection(value)) {
    bool same = is_same_predicate(capture.graph(), value->predicate, predicate) && layout_of(value).shape == shape;
    if (same) return std::optional(capture.values().astype(capture.memory().read(value), dtype));
    ACCEL_TRY([[maybe_unused]] Unit gathered, materialise(capture, value));
  }
  ACCEL_TRY(Operand operand, read_operand(capture, value));
  size_t trailing = shape.size() - static_cast<size_t>(predicate.first + predicate.rank);
  if (operand.shape.size() == 1 && trailing == 0 && !capture.facts().is_runtime(operand.shape[0]) &&
      is_one(capture, operand.shape[0])) {
    operand = {reshaped(capture, operand.ref, {}), operand.type, {}};
  }
  if (operand.shape.size() > trailing) return std::optional<ValueId>();
  ACCEL_TRY([[maybe_unused]] bool fits,
            spreads_to(capture, operand.shape, {shape.end() - static_cast<std::ptrdiff_t>(trailing), shape.end()}));
  if (!operand.is_array() || operand.type.dtype == dtype) {
    ACCEL_TRY(ValueId element, as_elements(capture, operand, dtype));
    return std::optional(broadcast_value(capture, element, shape));
  }
  // Only elements that are stored are cast.
  ValueId spread = broadcast_value(capture, capture.memory().read(operand.ref), shape);
  ValueId lanes = capture.build().lanes(spread, spread_mask(capture, predicate, shape));
  operand.ref = capture.values().fresh_array(lanes);
  operand.shape = shape;
  ACCEL_TRY(ValueId element, as_elements(capture, operand, dtype));
  return std::optional(element);
}

Result<bool> store_under_mask(Capture& capture, const Selection& selection, const Ref& value) {
  ACCEL_TRY(Predicate predicate, predicate_of(capture, selection));
  Ref view = masked_view(capture, selection);
  const StridedLayout layout = layout_of(view);
  ACCEL_TRY(auto elements, full_value(capture, value, predicate, layout.shape, layout.dtype));
  if (!elements) return false;
  capture.memory().store(view, *elements, spread_mask(capture, predicate, layout.shape));
  return true;
}

// --- at indices -----------------------------------------------------------------------------------------------------------

// Converts indices of a view's elements to indices of the underlying memory.
class MemoryIndices {
 public:
  MemoryIndices(Capture& capture, const Ref& view, std::vector<Dim> shape, std::vector<ValueId> indices)
      : capture_(capture), state_(view->array), shape_(std::move(shape)), indices_(std::move(indices)) {}

  Result<std::vector<ValueId>> run() {
    for (size_t k = state_.path.size(); k-- > 0;) {
      const Type from = k > 0 ? state_.path[k - 1].type : capture_.graph().type(state_.storage->current);
      ACCEL_TRY([[maybe_unused]] Unit done, undo(state_.path[k], from));
    }
    return std::move(indices_);
  }

 private:
  ValueId number(Dim d) { return capture_.build().dim(d, ValueKind::numpy_scalar); }
  ValueId compute(Op op, ValueId a, ValueId b) { return capture_.build().pointwise(op, {a, b}, {DType::int64}); }
  bool is_constant(Dim d, int64_t value) { return capture_.dims().is_constant(d, value); }

  Status undo(const ViewStep& step, const Type& from) {
    switch (step.op) {
      case Op::transpose: {
        std::vector<ValueId> moved(indices_.size());
        for (size_t k = 0; k < moved.size(); ++k) moved[static_cast<size_t>(step.attrs.axes[k])] = indices_[k];
        indices_ = std::move(moved);
        return Unit{};
      }
      case Op::expand_dims:
        for (size_t k = step.attrs.axes.size(); k-- > 0;) indices_.erase(indices_.begin() + step.attrs.axes[k]);
        return Unit{};
      case Op::squeeze:
        for (int axis : step.attrs.axes) indices_.insert(indices_.begin() + axis, zero());
        return Unit{};
      case Op::slice:
        for (size_t k = 0; k < indices_.size(); ++k)
          indices_[k] = shifted(indices_[k], step.attrs.dims[k], step.attrs.steps[k]);
        return Unit{};
      case Op::reshape:
        split(joined(step.type.shape), from.shape);
        return Unit{};
      default:
        return fail(Reason::unsupported_index, "a store at indices of such a view");
    }
  }

  ValueId zero() { return capture_.build().full(number(capture_.dims().constant(0)), shape_); }

  ValueId shifted(ValueId index, Dim start, Dim step) {
    if (!is_constant(step, 1)) index = compute(Op::multiply, index, number(step));
    return is_constant(start, 0) ? index : compute(Op::add, index, number(start));
  }

  // joined(): the position in C order of the current indices; split(): the indices of such a position.
  ValueId joined(const std::vector<Dim>& shape) {
    ValueId out = no_value;
    for (size_t k = 0; k < shape.size(); ++k)
      out = out == no_value ? indices_[k] : compute(Op::add, compute(Op::multiply, out, number(shape[k])), indices_[k]);
    return out == no_value ? zero() : out;
  }
  void split(ValueId position, const std::vector<Dim>& shape) {
    indices_.assign(shape.size(), no_value);
    for (size_t k = shape.size(); k-- > 0;) {
      if (k == 0) {
        indices_[k] = position;
        break;
      }
      indices_[k] = compute(Op::remainder, position, number(shape[k]));
      position = compute(Op::floor_divide, position, number(shape[k]));
    }
  }

  Capture& capture_;
  const ArrayState& state_;
  std::vector<Dim> shape_;
  std::vector<ValueId> indices_;
};

// 0, 1, ... along one axis of `shape`, constant along all others.
ValueId counted(Capture& capture, const std::vector<Dim>& shape, size_t axis) {
  Builder& build = capture.build();
  ValueId zero = build.constant(Literal::of_int(DType::int64, 0), ValueKind::numpy_scalar);
  ValueId one = build.constant(Literal::of_int(DType::int64, 1), ValueKind::numpy_scalar);
  ValueId out = build.arange(zero, one, shape[axis]);
  std::vector<int> trailing(shape.size() - axis - 1);
  std::iota(trailing.begin(), trailing.end(), 1);
  if (!trailing.empty()) out = build.expand_dims(out, trailing);
  return build.broadcast_to(out, shape);
}

}  // namespace

Status put_elements(Capture& capture, const Ref& view, const std::vector<int>& taken, std::vector<ValueId> indices,
                    ValueId value, std::optional<Op> ufunc) {
  Builder& build = capture.build();
  capture.memory().read(view);
  const Type memory = capture.graph().type(view->array.storage->current);
  const std::vector<Dim> shape = capture.graph().type(value).shape, extents = layout_of(view).shape;
  std::vector<int> leading(taken.size());
  std::iota(leading.begin(), leading.end(), 0);
  if (!view->array.path.empty() || taken != leading) {
    size_t fancy = shape.size() - (extents.size() - taken.size()), rest = fancy;
    std::vector<ValueId> all;
    std::vector<int> trailing(shape.size() - fancy);
    std::iota(trailing.begin(), trailing.end(), static_cast<int>(fancy));
    for (size_t axis = 0; axis < extents.size(); ++axis) {
      auto found = std::find(taken.begin(), taken.end(), static_cast<int>(axis));
      if (found == taken.end()) {
        all.push_back(counted(capture, shape, rest++));
        continue;
      }
      ValueId index = indices[static_cast<size_t>(found - taken.begin())];
      if (!trailing.empty()) index = build.expand_dims(index, trailing);
      all.push_back(build.broadcast_to(index, shape));
    }
    ACCEL_TRY(indices, MemoryIndices(capture, view, shape, std::move(all)).run());
    if (memory.rank() == 0) return fail(Reason::unsupported_index, "a store at indices of one element");
  }
  ValueId base = view->array.storage->current;
  replace_contents(
      capture, view,
      ufunc ? build.update_at(*ufunc, base, value, std::move(indices)) : build.put(base, value, std::move(indices)));
  return Unit{};
}

namespace {

// Whether NumPy's iterator reverses some axis: an operand has a negative stride there and none has a positive one.
bool walks_backwards(Capture& capture, const std::vector<Operand>& operands, size_t rank) {
  Dim zero = capture.dims().constant(0);
  for (size_t trailing = 1; trailing <= rank; ++trailing) {
    bool negative = false, positive = false;
    for (const Operand& operand : operands) {
      if (!operand.is_array() || operand.shape.size() < trailing) continue;
      Dim stride = layout_of(operand.ref).strides[operand.shape.size() - trailing];
      if (capture.facts().decide(stride, Comparison::lt, zero))
        negative = true;
      else
        positive = positive || capture.ranges().hint(stride) > 0;
    }
    if (negative && !positive) return true;
  }
  return false;
}

// The memory order in which elements are stored at indices. It is visible where indices are equal.
Result<std::vector<uint8_t>> store_order(Capture& capture, const Selection& selection, const Indices& indices,
                                         const Operand& value) {
  std::vector<Operand> walked = indices.operands;
  if (value.is_array() && selection.others.empty()) walked.push_back(value);
  ACCEL_TRY(std::vector<uint8_t> order, order_of_indices(capture, selection, walked, indices.shape));
  bool one_row = indices.operands.size() == 1 && indices.shape.size() == 1;
  if (!one_row && selection.others.empty() && walks_backwards(capture, walked, indices.shape.size()))
    return fail(Reason::unsupported_layout, "a store at indices in memory with negative strides");
  if (!order.empty() && !selection.others.empty())
    return fail(Reason::unsupported_layout, "a store at indices in another order than C's");
  return order;
}

Status scatter(Capture& capture, const Selection& selection, const Ref& value, std::optional<Op> ufunc = std::nullopt) {
  ACCEL_TRY([[maybe_unused]] Unit gathered, materialise(capture, value));
  const StridedLayout layout = layout_of(selection.view);
  ACCEL_TRY(Indices indices, read_indices(capture, selection));
  ACCEL_TRY(Operand operand, read_operand(capture, value));
  std::vector<Dim> others, visible;
  for (int axis : selection.others) others.push_back(layout.shape[static_cast<size_t>(axis)]);
  visible = others;
  visible.insert(visible.begin() + selection.first, indices.shape.begin(), indices.shape.end());
  while (operand.shape.size() > visible.size()) {
    if (!is_one(capture, operand.shape[0])) return fail(Reason::will_raise, "could not broadcast the value");
    operand.shape.erase(operand.shape.begin());
    operand.ref = reshaped(capture, operand.ref, operand.shape);
  }
  ACCEL_TRY([[maybe_unused]] bool fits, spreads_to(capture, operand.shape, visible));
  ACCEL_TRY(ValueId elements, spread_elements(capture, operand, layout.dtype, visible, selection.others.empty()));
  std::vector<uint8_t> order;  // a ufunc iterates in C order
  if (!ufunc) {
    ACCEL_TRY(order, store_order(capture, selection, indices, operand));
  }
  Builder& build = capture.build();
  std::vector<int> axes(visible.size());
  std::iota(axes.begin(), axes.end(), 0);
  auto fancy = static_cast<std::ptrdiff_t>(indices.shape.size());
  std::rotate(axes.begin(), axes.begin() + selection.first, axes.begin() + selection.first + fancy);
  if (!order.empty()) axes.assign(order.begin(), order.end());
  if (!std::is_sorted(axes.begin(), axes.end())) elements = build.transpose(elements, axes);
  if (!order.empty())
    for (ValueId& index : indices.values) index = build.transpose(index, axes);
  return put_elements(capture, selection.view, selection.taken, indices.values, elements, ufunc);
}

}  // namespace

Status update_elements(Capture& capture, const Ref& array, const std::vector<IndexPart>& parts, const Ref& value, Op ufunc) {
  ACCEL_TRY([[maybe_unused]] Unit storable, capture.memory().check_storable(array));
  ACCEL_TRY(Selection selection, select(capture, array, parts));
  return scatter(capture, selection, value, ufunc);
}

Status advanced_setitem(Capture& capture, const Ref& array, const std::vector<IndexPart>& parts, const Ref& given) {
  EventCall events(capture, "cast");
  ACCEL_TRY([[maybe_unused]] Unit storable, capture.memory().check_storable(array));
  ACCEL_TRY(Ref value, assigned(capture, given, layout_of(array).dtype));
  ACCEL_TRY(Selection selection, select(capture, array, parts));
  if (is_one_mask(selection)) {
    if (selection.plain && selection.others.empty() && !is_masked_selection(value)) {
      ACCEL_TRY(Operand operand, read_operand(capture, value));
      if (operand.shape.size() > 1) return fail(Reason::will_raise, "a store under a mask needs a 0 or 1-dimensional input");
    }
    ACCEL_TRY(bool stored, store_under_mask(capture, selection, value));
    if (stored) return Unit{};
  }
  return scatter(capture, selection, value);
}

}  // namespace accel
