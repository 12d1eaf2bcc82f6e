// Memory order: what NumPy's iterator chooses for a result, and whether memory is contiguous.

#include <algorithm>
#include <numeric>

#include "capture/numpy_operands.h"

namespace accel {

namespace {

// How one operand's memory goes along the axes of the result: place[k] grows with |stride|; 0 = the operand does not move.
using Places = std::vector<int>;

bool is_c_order(Capture& capture, const Operand& operand) {
  return operand.shape.size() < 2 || capture.graph().type(capture.read(operand.ref)).is_c_order();
}

Places places_of(Capture& capture, const Operand& operand, size_t rank) {
  Places places(rank, 0);
  const Type& type = capture.graph().type(capture.read(operand.ref));
  const Lens& lens = lens_of(operand.ref);
  DimTable& dims = capture.dims();
  std::vector<uint8_t> order = type.axis_order();
  for (size_t k = 0; k < order.size(); ++k) {
    size_t axis = order[k];
    bool still = is_one(capture, lens.shape[axis]) || capture.decide_equal(lens.strides[axis], dims.constant(0));
    if (!still) places[rank - order.size() + axis] = static_cast<int>(order.size() - k);
  }
  return places;
}

// Whether NpyIter would put axis `a` (slower so far) inside axis `b`. nullopt: the operands do not tell.
std::optional<bool> belongs_inside(const std::vector<Places>& operands, size_t a, size_t b) {
  std::optional<bool> out;
  for (const Places& places : operands) {
    if (places[a] == 0 || places[b] == 0) continue;
    // When operands disagree, C order wins.
    if (places[b] < places[a]) {
      out = false;
    } else if (!out) {
      out = true;
    }
  }
  return out;
}

// npyiter_find_best_axis_ordering: a stable insertion sort from the fastest axis to the slowest.
std::vector<size_t> sorted_axes(const std::vector<Places>& operands, size_t rank) {
  std::vector<size_t> axes(rank);
  for (size_t k = 0; k < rank; ++k) axes[k] = rank - 1 - k;
  for (size_t i = 1; i < rank; ++i) {
    size_t at = i, axis = axes[i];
    for (size_t j = i; j-- > 0;) {
      auto inside = belongs_inside(operands, axis, axes[j]);
      if (!inside) continue;
      if (!*inside) break;
      at = j;
    }
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i));
    axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(at), axis);
  }
  return axes;
}

// Whether memory is gapless with the axes from slowest to fastest in `order`; decided by guards. Axes of extent 1 do not matter.
bool is_contiguous(Capture& capture, const Lens& lens, const std::vector<size_t>& order) {
  DimTable& dims = capture.dims();
  for (Dim extent : lens.shape) {
    if (capture.hint(extent) == 0) return capture.decide_equal(extent, dims.constant(0));
  }
  Dim expected = dims.constant(item_size(lens.dtype));
  for (size_t k = order.size(); k-- > 0;) {
    Dim extent = lens.shape[order[k]], stride = lens.strides[order[k]];
    if (stride != expected && !is_one(capture, extent) && !capture.decide_equal(stride, expected)) return false;
    expected = dims.mul(expected, extent);
  }
  return true;
}

}  // namespace

std::vector<uint8_t> result_order(Capture& capture, const std::vector<Operand>& operands, const std::vector<Dim>& shape) {
  bool all_c = std::all_of(operands.begin(), operands.end(), [&](const Operand& o) { return is_c_order(capture, o); });
  if (all_c) return {};
  std::vector<Places> places;
  for (const Operand& operand : operands) {
    if (operand.is_array() && !operand.shape.empty()) places.push_back(places_of(capture, operand, shape.size()));
  }
  std::vector<size_t> axes = sorted_axes(places, shape.size());
  std::vector<uint8_t> order(axes.rbegin(), axes.rend());
  return std::is_sorted(order.begin(), order.end()) ? std::vector<uint8_t>{} : order;
}

bool is_c_contiguous(Capture& capture, const Ref& array) {
  std::vector<size_t> order(lens_of(array).shape.size());
  std::iota(order.begin(), order.end(), size_t{0});
  return is_contiguous(capture, lens_of(array), order);
}

bool is_f_contiguous(Capture& capture, const Ref& array) {
  std::vector<size_t> order(lens_of(array).shape.size());
  std::iota(order.rbegin(), order.rend(), size_t{0});
  return is_contiguous(capture, lens_of(array), order);
}

}  // namespace accel
