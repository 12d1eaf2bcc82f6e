#include "capture/numpy/arrays/views.h"

#include <algorithm>

#include "capture/domain/dense_strides.h"
#include "capture/protocol/operands.h"

namespace accel {

ViewMaker::ViewMaker(Capture& capture, Ref array)
    : capture_(capture), base_(std::move(array)), value_(capture.memory().read(base_)) {}

void ViewMaker::append(ValueId next) {
  if (next == value_) return;
  const Node& node = capture_.graph().producer(next);
  steps_.push_back({node.op, node.attrs, capture_.graph().type(next)});
  value_ = next;
}

void ViewMaker::transpose(std::vector<int> axes) { append(capture_.build().transpose(value_, std::move(axes))); }
void ViewMaker::expand_dims(std::vector<int> axes) { append(capture_.build().expand_dims(value_, std::move(axes))); }
void ViewMaker::reshape(std::vector<Dim> shape) { append(with_shape(capture_, value_, shape)); }
void ViewMaker::part(bool imaginary) { append(imaginary ? capture_.build().imag(value_) : capture_.build().real(value_)); }
void ViewMaker::parts() { append(capture_.build().parts(value_)); }

void ViewMaker::broadcast_to(std::vector<Dim> shape) { append(capture_.build().broadcast_to(value_, std::move(shape))); }

// Extents that were decided to be 1 first become the constant 1, which the op requires.
void ViewMaker::squeeze(std::vector<int> axes) {
  std::vector<Dim> shape = capture_.graph().type(value_).shape;
  for (int axis : axes) shape[static_cast<size_t>(axis)] = capture_.dims().constant(1);
  reshape(std::move(shape));
  append(capture_.build().squeeze(value_, std::move(axes)));
}

void ViewMaker::slice(std::vector<Dim> starts, std::vector<Dim> steps, std::vector<Dim> extents) {
  append(capture_.build().slice(value_, std::move(starts), std::move(steps), std::move(extents)));
}

Ref ViewMaker::finish(StridedLayout layout) const {
  ValueId value = value_;
  std::vector<ViewStep> steps = steps_;
  if (steps.empty()) {
    // A view of everything is still a separate object.
    Attributes attrs;
    for (size_t k = 0; k < layout.shape.size(); ++k) attrs.axes.push_back(static_cast<int>(k));
    steps.push_back({Op::transpose, attrs, capture_.graph().type(value)});
  }
  Ref out = base_;
  for (ViewStep& step : steps) out = capture_.memory().view_of(out, std::move(step), layout, value);
  return out;
}

Ref plain_view(Capture& capture, const Ref& array) { return ViewMaker(capture, array).finish(layout_of(array)); }

Ref transposed_view(Capture& capture, const Ref& array, const std::vector<int>& axes) {
  ViewMaker view(capture, array);
  view.transpose(axes);
  const StridedLayout& from = layout_of(array);
  StridedLayout layout{{}, {}, from.offset, from.dtype};
  for (int axis : axes) {
    layout.shape.push_back(from.shape[static_cast<size_t>(axis)]);
    layout.strides.push_back(from.strides[static_cast<size_t>(axis)]);
  }
  return view.finish(std::move(layout));
}

Ref squeezed_view(Capture& capture, const Ref& array, const std::vector<int>& axes) {
  ViewMaker view(capture, array);
  view.squeeze(axes);
  const StridedLayout& from = layout_of(array);
  StridedLayout layout{{}, {}, from.offset, from.dtype};
  for (size_t k = 0; k < from.shape.size(); ++k) {
    if (std::binary_search(axes.begin(), axes.end(), static_cast<int>(k))) continue;
    layout.shape.push_back(from.shape[k]);
    layout.strides.push_back(from.strides[k]);
  }
  return view.finish(std::move(layout));
}

Ref part_view(Capture& capture, const Ref& array, bool imaginary) {
  ViewMaker view(capture, array);
  view.part(imaginary);
  StridedLayout layout = layout_of(array);
  layout.dtype = capture.graph().type(view.value()).dtype;
  if (imaginary) layout.offset = capture.dims().add(layout.offset, capture.dims().constant(item_size(layout.dtype)));
  return view.finish(std::move(layout));
}

Ref parts_view(Capture& capture, const Ref& array) {
  ViewMaker view(capture, array);
  view.parts();
  StridedLayout layout = layout_of(array);
  layout.dtype = capture.graph().type(view.value()).dtype;
  layout.shape.push_back(capture.dims().constant(2));
  layout.strides.push_back(capture.dims().constant(item_size(layout.dtype)));
  return view.finish(std::move(layout));
}

namespace {

// The strides by which memory of `from` has `shape` without a copy, or nullopt: NumPy's _attempt_nocopy_reshape.
class Reshaping {
 public:
  Reshaping(Capture& capture, const StridedLayout& from, const std::vector<Dim>& shape)
      : capture_(capture), dims_(capture.dims()), to_(shape) {
    for (size_t k = 0; k < from.shape.size(); ++k) {
      if (is_one(capture, from.shape[k])) continue;
      extents_.push_back(from.shape[k]);
      strides_.push_back(from.strides[k]);
    }
    out_.resize(shape.size());
    item_ = dims_.constant(item_size(from.dtype));
  }

  std::optional<std::vector<Dim>> strides() {
    size_t old_at = 0, new_at = 0;
    while (new_at < to_.size() && old_at < extents_.size()) {
      size_t old_end = old_at + 1, new_end = new_at + 1;
      if (!find_group(old_at, old_end, new_at, new_end) || !fill_group(old_at, old_end, new_at, new_end)) return std::nullopt;
      old_at = old_end;
      new_at = new_end;
    }
    for (size_t k = new_at; k < to_.size(); ++k) out_[k] = new_at == 0 ? item_ : out_[new_at - 1];
    return out_;
  }

 private:
  // Extends both groups of axes until they have equal numbers of elements.
  bool find_group(size_t old_at, size_t& old_end, size_t new_at, size_t& new_end) {
    Dim before = extents_[old_at], after = to_[new_at];
    while (!(capture_.ranges().hint(before) == capture_.ranges().hint(after) && capture_.facts().decide_equal(before, after))) {
      if (capture_.facts().decide(after, Comparison::lt, before)) {
        if (new_end == to_.size()) return false;
        after = dims_.mul(after, to_[new_end++]);
      } else {
        if (old_end == extents_.size()) return false;
        before = dims_.mul(before, extents_[old_end++]);
      }
    }
    return true;
  }

  bool fill_group(size_t old_at, size_t old_end, size_t new_at, size_t new_end) {
    for (size_t k = old_at; k + 1 < old_end; ++k) {
      if (!capture_.facts().decide_equal(strides_[k], dims_.mul(extents_[k + 1], strides_[k + 1]))) return false;
    }
    out_[new_end - 1] = strides_[old_end - 1];
    for (size_t k = new_end - 1; k > new_at; --k) out_[k - 1] = dims_.mul(out_[k], to_[k]);
    return true;
  }

  Capture& capture_;
  DimTable& dims_;
  const std::vector<Dim>& to_;
  std::vector<Dim> extents_, strides_, out_;
  Dim item_;
};

}  // namespace

Result<std::vector<Dim>> reshape_target(Capture& capture, const Ref& array, std::vector<Dim> shape) {
  DimTable& dims = capture.dims();
  Dim size = element_count(capture, layout_of(array).shape), known = dims.constant(1);
  std::optional<size_t> unknown;
  for (size_t k = 0; k < shape.size(); ++k) {
    if (capture.facts().decide(shape[k], Comparison::lt, dims.constant(0))) {
      if (unknown) return fail(Reason::will_raise, "can only specify one unknown dimension");
      unknown = k;
    } else {
      known = dims.mul(known, shape[k]);
    }
  }
  if (unknown) {
    if (capture.facts().decide_equal(known, dims.constant(0)))
      return fail(Reason::will_raise, "cannot reshape into this shape");
    shape[*unknown] = dims.quotient(size, known);
    known = dims.mul(known, shape[*unknown]);
  }
  if (!capture.facts().expect_equal(known, size)) return fail(Reason::will_raise, "cannot reshape into this shape");
  return shape;
}

namespace {

// How the array's memory shows `shape`; nullopt: it has to be copied.
std::optional<StridedLayout> reshaped_layout(Capture& capture, const Ref& array, const std::vector<Dim>& shape) {
  const StridedLayout from = layout_of(array);
  if (from.shape == shape) return from;
  if (is_c_contiguous(capture, array))
    return StridedLayout{shape, dense_strides(capture.dims(), shape, {}, from.dtype), from.offset, from.dtype};
  bool same = from.shape.size() == shape.size();
  for (size_t k = 0; same && k < shape.size(); ++k) same = capture.facts().decide_equal(from.shape[k], shape[k]);
  if (same) return StridedLayout{shape, from.strides, from.offset, from.dtype};
  if (auto strides = Reshaping(capture, from, shape).strides()) return StridedLayout{shape, *strides, from.offset, from.dtype};
  return std::nullopt;
}

// Replaces extents of `shape` by the equal expressions of the array's own extents and of products of adjacent ones, so that the
// graph shows which axes stay together.
std::vector<Dim> by_own_names(Capture& capture, const Ref& array, std::vector<Dim> shape) {
  DimTable& dims = capture.dims();
  const std::vector<Dim>& own = layout_of(array).shape;
  for (size_t i = 0, j = 0; i < own.size() && j < shape.size(); ++i, ++j) {
    Dim left = own[i], right = shape[j];
    size_t last = j;
    while (capture.ranges().hint(left) != capture.ranges().hint(right)) {
      if (capture.ranges().hint(left) < capture.ranges().hint(right) ? i + 1 == own.size() : last + 1 == shape.size())
        return shape;
      if (capture.ranges().hint(left) < capture.ranges().hint(right))
        left = dims.mul(left, own[++i]);
      else
        right = dims.mul(right, shape[++last]);
    }
    if (last == j && left != right && capture.facts().decide_equal(right, left)) shape[j] = left;
    j = last;
  }
  return shape;
}

}  // namespace

Ref reshaped(Capture& capture, const Ref& array, const std::vector<Dim>& target) {
  std::vector<Dim> shape = target;
  std::optional<StridedLayout> layout;
  {
    // With several axes the strides of a view determine those of results computed from it, so they have to be known.
    Assumptions assumptions(capture, shape.size() < 2 ? Reason::view_or_copy : Reason::assumption_failed);
    layout = reshaped_layout(capture, array, shape);
    if (assumptions.is_open()) return view_or_copy(capture, array, shape);
  }
  if (layout && !capture.graph().type(capture.memory().read(array)).is_c_order()) {
    shape = by_own_names(capture, array, shape);
    layout = reshaped_layout(capture, array, shape);
  }
  const Ref memory = layout ? array : copied(capture, capture.memory().read(array), {});
  if (!layout) {
    const StridedLayout copy = layout_of(memory);
    layout = StridedLayout{shape, dense_strides(capture.dims(), shape, {}, copy.dtype), copy.offset, copy.dtype};
  }
  ViewMaker view(capture, memory);
  view.reshape(shape);
  return view.finish(std::move(*layout));
}

bool may_be_view(Capture& capture, const Ref& array) {
  DimTable& dims = capture.dims();
  const StridedLayout& layout = layout_of(array);
  bool runtime = std::any_of(layout.shape.begin(), layout.shape.end(), [&](Dim d) { return capture.facts().is_runtime(d); });
  if (!runtime || !capture.in_library()) return false;
  Dim expected = dims.constant(item_size(layout.dtype));
  for (size_t k = layout.shape.size(); k-- > 0;) {
    Dim extent = layout.shape[k];
    bool dense = capture.facts().is_runtime(dims.sub(layout.strides[k], expected))
                     ? capture.facts().is_known_equal(layout.strides[k], expected)
                     : capture.facts().decide_equal(layout.strides[k], expected);
    bool several = !dense && (capture.facts().is_runtime(extent) ? capture.facts().prove(dims.sub(extent, dims.constant(2)))
                                                                 : !is_one(capture, extent));
    if (several) return false;
    if (!dense && capture.facts().is_runtime(extent) && !capture.facts().is_known_equal(extent, dims.constant(1))) return true;
    expected = dims.mul(expected, extent);
  }
  return false;
}

Ref view_or_copy(Capture& capture, const Ref& array, const std::vector<Dim>& shape, bool ravels) {
  Ref copy = copied(capture, with_shape(capture, capture.memory().read(array), shape), {});
  copy->array.storage->maybe = array->array.storage;
  copy->array.storage->maybe_version = array->array.storage->version;
  copy->array.storage->maybe_made = std::make_shared<ViewOrCopy>(ViewOrCopy{array->array, ravels});
  return copy;
}

Ref copied(Capture& capture, ValueId value, std::vector<uint8_t> order) {
  DType dtype = capture.graph().type(value).dtype;
  return capture.values().fresh_array(
      capture.build().pointwise(Op::copy, {value}, {dtype}, ValueKind::array, std::move(order)));
}

}  // namespace accel
