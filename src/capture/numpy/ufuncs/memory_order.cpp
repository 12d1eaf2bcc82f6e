// Memory order: what NumPy's iterator chooses for a result, and whether memory is contiguous.

#include <algorithm>
#include <numeric>

#include "capture/domain/dense_strides.h"
#include "capture/protocol/operands.h"

namespace accel {

namespace {

// The order of the result's axes in one operand's memory: places[axis] grows with |stride|; 0: no stride.
using Places = std::vector<int>;
constexpr int no_part = -1;  // the axis does not affect the order

bool is_c_order(Capture& capture, const Operand& operand) {
  return operand.shape.size() < 2 || capture.graph().type(capture.memory().read(operand.ref)).is_c_order();
}

bool has_no_stride(Capture& capture, const StridedLayout& layout, size_t axis) {
  return capture.facts().decide_equal(layout.strides[axis], capture.dims().constant(0));
}

bool has_axis_without_stride(Capture& capture, const Operand& operand) {
  const StridedLayout& layout = layout_of(operand.ref);
  for (size_t k = 0; k < layout.shape.size(); ++k) {
    bool moves = !capture.dims().as_symbol(layout.strides[k]) && capture.ranges().hint(layout.strides[k]) != 0;
    if (!moves && !is_one(capture, layout.shape[k]) && has_no_stride(capture, layout, k)) return true;
  }
  return false;
}

// Whether an axis does not affect the order because it has one element. For two axes with run-time extents this needs no
// decision: then their order makes no difference.
bool has_one_element(Capture& capture, Dim extent, size_t rank) {
  return !(rank == 2 && capture.facts().is_runtime(extent)) && is_one(capture, extent);
}

// `without_stride`: the place of axes of stride 0. The last `core` axes are excluded.
Places places_of(Capture& capture, const Operand& operand, size_t rank, int without_stride, size_t core = 0) {
  Places places(rank, no_part);
  const StridedLayout& layout = layout_of(operand.ref);
  std::vector<uint8_t> order = capture.graph().type(capture.memory().read(operand.ref)).axis_order();
  for (size_t k = 0; k < order.size(); ++k) {
    size_t axis = order[k];
    if (axis + core >= order.size() || has_one_element(capture, layout.shape[axis], rank)) continue;
    int place = static_cast<int>(order.size() - k);
    places[rank + core - order.size() + axis] = has_no_stride(capture, layout, axis) ? without_stride : place;
  }
  return places;
}

// Whether the operands require axis `a`, slower so far, to be faster than axis `b`; nullopt: they do not determine it.
std::optional<bool> belongs_inside(const std::vector<Places>& operands, size_t a, size_t b) {
  std::optional<bool> out;
  for (const Places& places : operands) {
    if (places[a] == no_part || places[b] == no_part) continue;
    // C order wins if operands disagree.
    if (places[b] <= places[a]) {
      out = false;
    } else if (!out) {
      out = true;
    }
  }
  return out;
}

// NumPy's stable insertion sort. `moves(axis, other)`: whether `axis` goes before `other`, or nullopt.
template <class Moves>
void insertion_sort(std::vector<size_t>& axes, Moves moves) {
  for (size_t i = 1; i < axes.size(); ++i) {
    size_t at = i, axis = axes[i];
    for (size_t j = i; j-- > 0;) {
      auto before = moves(axis, axes[j]);
      if (!before) continue;
      if (!*before) break;
      at = j;
    }
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i));
    axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(at), axis);
  }
}

std::vector<Places> all_places(Capture& capture, const std::vector<Operand>& operands, size_t rank, int without_stride) {
  std::vector<Places> out;
  for (const Operand& operand : operands) {
    if (operand.is_array() && !operand.shape.empty()) out.push_back(places_of(capture, operand, rank, without_stride));
  }
  return out;
}

std::vector<uint8_t> as_order(std::vector<size_t> axes) {
  std::vector<uint8_t> order(axes.begin(), axes.end());
  return std::is_sorted(order.begin(), order.end()) ? std::vector<uint8_t>{} : order;
}

std::vector<uint8_t> reversed_axes(size_t rank) {
  std::vector<uint8_t> out(rank);
  std::iota(out.rbegin(), out.rend(), uint8_t{0});
  return out;
}

// NumPy's npyiter_find_best_axis_ordering, which sorts axes from fastest to slowest.
std::vector<uint8_t> iterated_order(const std::vector<Places>& places, size_t rank) {
  std::vector<size_t> axes(rank);
  std::iota(axes.rbegin(), axes.rend(), size_t{0});
  insertion_sort(axes, [&](size_t axis, size_t other) { return belongs_inside(places, axis, other); });
  std::reverse(axes.begin(), axes.end());
  return as_order(std::move(axes));
}

bool all_c_order(Capture& capture, const std::vector<Operand>& operands) {
  return std::all_of(operands.begin(), operands.end(), [&](const Operand& o) { return is_c_order(capture, o); });
}

// Whether the strides are those of gapless memory with axes from slowest to fastest in `order`, decided by guards. Axes of
// extent 1 do not matter.
bool has_no_gaps(Capture& capture, const StridedLayout& layout, const std::vector<size_t>& order) {
  DimTable& dims = capture.dims();
  Dim expected = dims.constant(item_size(layout.dtype));
  for (size_t k = order.size(); k-- > 0;) {
    Dim extent = layout.shape[order[k]], stride = layout.strides[order[k]];
    if (stride != expected && !is_one(capture, extent) && !capture.facts().decide_equal(stride, expected)) return false;
    expected = dims.mul(expected, extent);
  }
  return true;
}

// Whether NumPy sets the contiguity flag of this order, decided by guards. Memory without elements is contiguous.
bool is_contiguous(Capture& capture, const StridedLayout& layout, const std::vector<size_t>& order) {
  DimTable& dims = capture.dims();
  for (Dim extent : layout.shape) {
    if (capture.ranges().hint(extent) == 0) return capture.facts().decide_equal(extent, dims.constant(0));
  }
  if (has_no_gaps(capture, layout, order)) return true;
  return std::any_of(layout.shape.begin(), layout.shape.end(),
                     [&](Dim extent) { return capture.facts().decide_equal(extent, dims.constant(0)); });
}

}  // namespace

std::vector<uint8_t> result_order(Capture& capture, const std::vector<Operand>& operands, const std::vector<Dim>& shape) {
  if (all_c_order(capture, operands)) return {};
  return iterated_order(all_places(capture, operands, shape.size(), no_part), shape.size());
}

std::vector<uint8_t> outer_order(Capture& capture, const std::vector<Operand>& operands, const std::vector<size_t>& core,
                                 size_t rank) {
  if (rank < 2 || all_c_order(capture, operands)) return {};
  std::vector<Places> places;
  for (size_t k = 0; k < operands.size(); ++k) {
    if (operands[k].is_array()) places.push_back(places_of(capture, operands[k], rank, no_part, core[k]));
  }
  return iterated_order(places, rank);
}

// NumPy's PyArray_CreateMultiSortedStridePerm, which sorts axes from slowest to fastest.
std::vector<uint8_t> joined_order(Capture& capture, const std::vector<Operand>& operands) {
  bool strideless =
      std::any_of(operands.begin(), operands.end(), [&](const Operand& o) { return has_axis_without_stride(capture, o); });
  if (!strideless && all_c_order(capture, operands)) return {};
  size_t rank = operands[0].shape.size();
  std::vector<Places> places = all_places(capture, operands, rank, 0);
  std::vector<size_t> axes(rank);
  std::iota(axes.begin(), axes.end(), size_t{0});
  insertion_sort(axes, [&](size_t axis, size_t other) { return belongs_inside(places, other, axis); });
  return as_order(std::move(axes));
}

namespace {

Dim magnitude(Capture& capture, Dim stride) {
  const Dim zero = capture.dims().constant(0);
  return capture.facts().decide(stride, Comparison::lt, zero) ? capture.dims().sub(zero, stride) : stride;
}

// Sorts axes of extent 1 by their strides as NumPy does for copies; iterators treat such axes as having no stride.
void sort_single_axes(Capture& capture, const StridedLayout& layout, std::vector<uint8_t>& order) {
  std::vector<uint8_t> single;
  for (uint8_t axis : order)
    if (capture.ranges().hint(layout.shape[axis]) == 1 && !capture.facts().is_runtime(layout.shape[axis]) &&
        is_one(capture, layout.shape[axis]))
      single.push_back(axis);
  std::erase_if(order, [&](uint8_t axis) { return std::find(single.begin(), single.end(), axis) != single.end(); });
  std::sort(single.begin(), single.end());
  for (uint8_t axis : single) {
    const Dim own = magnitude(capture, layout.strides[axis]);
    auto follows = [&](uint8_t other) {
      const Dim stride = magnitude(capture, layout.strides[other]);
      if (stride == own || capture.facts().decide_equal(stride, own)) return other > axis;
      return capture.facts().decide(stride, Comparison::lt, own);
    };
    order.insert(std::find_if(order.begin(), order.end(), follows), axis);
  }
}

// Whether the strides are those of C order for all extents.
bool is_plainly_c(Capture& capture, const StridedLayout& layout) {
  return layout.strides == dense_strides(capture.dims(), layout.shape, {}, layout.dtype);
}

}  // namespace

// NumPy's PyArray_CreateSortedStridePerm.
std::vector<uint8_t> stride_order(Capture& capture, const Ref& array) {
  const StridedLayout& layout = layout_of(array);
  std::vector<uint8_t> order = capture.graph().type(capture.memory().read(array)).axis_order();
  // Axes without a stride come last, as the fastest ones. Only strides that are symbols of the call can be 0 without being
  // known.
  auto moves = [&](uint8_t axis) {
    Dim stride = layout.strides[axis];
    bool known = !capture.dims().as_symbol(stride) && capture.ranges().hint(stride) != 0;
    return known || is_one(capture, layout.shape[axis]) || !has_no_stride(capture, layout, axis);
  };
  if (order.size() > 1) {
    std::stable_partition(order.begin(), order.end(), moves);
    if (!is_plainly_c(capture, layout)) sort_single_axes(capture, layout, order);
  }
  return std::is_sorted(order.begin(), order.end()) ? std::vector<uint8_t>{} : order;
}

// The order of NumPy's PyArray_NewLikeArray.
std::vector<uint8_t> copy_order(Capture& capture, const Ref& array) {
  const StridedLayout& layout = layout_of(array);
  if (layout.shape.size() < 2 || is_plainly_c(capture, layout)) return {};
  const bool has_single = std::any_of(layout.shape.begin(), layout.shape.end(), [&](Dim extent) {
    return capture.ranges().hint(extent) == 1 && !capture.facts().is_runtime(extent);
  });
  if (has_single && is_c_contiguous(capture, array)) return {};
  if (has_single && is_f_contiguous(capture, array)) return reversed_axes(layout.shape.size());
  return stride_order(capture, array);
}

Result<std::vector<uint8_t>> copy_order(Capture& capture, const Ref& array, const std::string& order) {
  if (order == "C") return std::vector<uint8_t>();
  if (order == "K") return copy_order(capture, array);
  if (order != "F" && order != "A") return fail(Reason::will_raise, "order='" + order + "'");
  bool backwards = order == "F" || (is_f_contiguous(capture, array) && !is_c_contiguous(capture, array));
  return backwards ? reversed_axes(layout_of(array).shape.size()) : std::vector<uint8_t>();
}

bool is_c_contiguous(Capture& capture, const Ref& array) {
  std::vector<size_t> order(layout_of(array).shape.size());
  std::iota(order.begin(), order.end(), size_t{0});
  return is_contiguous(capture, layout_of(array), order);
}

bool is_in_order(Capture& capture, const Ref& array, const std::string& order) {
  if (order == "K") return true;
  return (order != "F" && is_c_contiguous(capture, array)) || (order != "C" && is_f_contiguous(capture, array));
}

bool is_f_contiguous(Capture& capture, const Ref& array) {
  std::vector<size_t> order(layout_of(array).shape.size());
  std::iota(order.rbegin(), order.rend(), size_t{0});
  return is_contiguous(capture, layout_of(array), order);
}

}  // namespace accel
