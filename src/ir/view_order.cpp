#include "ir/view_order.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "ir/axes.h"

namespace accel {

namespace {

std::vector<uint8_t> c_order(size_t rank) {
  std::vector<uint8_t> out(rank);
  std::iota(out.begin(), out.end(), uint8_t{0});
  return out;
}

}  // namespace

std::vector<uint8_t> transposed_order(const Type& from, const std::vector<int>& axes) {
  std::vector<uint8_t> position(axes.size());
  for (size_t k = 0; k < axes.size(); ++k) position[static_cast<size_t>(axes[k])] = static_cast<uint8_t>(k);
  std::vector<uint8_t> out;
  for (uint8_t axis : from.axis_order()) out.push_back(position[axis]);
  return out;
}

std::vector<uint8_t> expanded_order(const Type& from, const std::vector<int>& axes) {
  int rank = from.rank() + static_cast<int>(axes.size());
  std::vector<int> remaining;
  for (int axis = 0; axis < rank; ++axis) {
    if (!contains_axis(axes, axis)) remaining.push_back(axis);
  }
  std::vector<uint8_t> out;
  for (uint8_t axis : from.axis_order()) out.push_back(static_cast<uint8_t>(remaining[axis]));
  for (int axis = rank - 1; axis >= 0; --axis) {
    if (!contains_axis(axes, axis)) continue;
    auto follower = std::find(out.begin(), out.end(), axis + 1);
    out.insert(follower, static_cast<uint8_t>(axis));
  }
  return out;
}

std::vector<uint8_t> order_without(const Type& from, const std::vector<int>& axes) {
  std::vector<uint8_t> out;
  for (uint8_t axis : from.axis_order()) {
    if (contains_axis(axes, axis)) continue;
    auto below = std::count_if(axes.begin(), axes.end(), [&](int dropped) { return dropped < axis; });
    out.push_back(static_cast<uint8_t>(axis - below));
  }
  return out;
}

std::vector<uint8_t> broadcast_order(const Type& from, int rank) {
  int extra = rank - from.rank();
  std::vector<uint8_t> out = c_order(static_cast<size_t>(extra));
  for (uint8_t axis : from.axis_order()) out.push_back(static_cast<uint8_t>(axis + extra));
  return out;
}

namespace {

// Axes of extent 1 take no part in the matching.
std::vector<uint8_t> wide_axes(const DimTable& dims, const std::vector<Dim>& shape) {
  std::vector<uint8_t> out;
  for (size_t k = 0; k < shape.size(); ++k) {
    if (!dims.is_constant(shape[k], 1)) out.push_back(static_cast<uint8_t>(k));
  }
  return out;
}

std::vector<Dim> pick(const std::vector<Dim>& shape, const std::vector<uint8_t>& axes) {
  std::vector<Dim> out;
  for (uint8_t axis : axes) out.push_back(shape[axis]);
  return out;
}

// Lengths of the shortest prefixes of `from` and `to` with equal products; everything when products never meet.
std::pair<size_t, size_t> shortest_match(DimTable& dims, std::span<const Dim> from, std::span<const Dim> to) {
  for (size_t total = 2; total <= from.size() + to.size(); ++total) {
    for (size_t left = 1; left < total && left <= from.size(); ++left) {
      size_t right = total - left;
      if (right <= to.size() && dims.product(from.first(left)) == dims.product(to.first(right))) return {left, right};
    }
  }
  return {from.size(), to.size()};
}

}  // namespace

std::vector<ReshapeGroup> reshape_groups(DimTable& dims, const std::vector<Dim>& from, const std::vector<Dim>& to) {
  std::vector<uint8_t> old_axes = wide_axes(dims, from), new_axes = wide_axes(dims, to);
  std::vector<Dim> old_dims = pick(from, old_axes), new_dims = pick(to, new_axes);
  std::vector<ReshapeGroup> out;
  for (size_t i = 0, j = 0; i < old_axes.size() && j < new_axes.size();) {
    auto [left, right] = shortest_match(dims, std::span(old_dims).subspan(i), std::span(new_dims).subspan(j));
    auto old_at = old_axes.begin() + static_cast<std::ptrdiff_t>(i), new_at = new_axes.begin() + static_cast<std::ptrdiff_t>(j);
    out.push_back(
        {{old_at, old_at + static_cast<std::ptrdiff_t>(left)}, {new_at, new_at + static_cast<std::ptrdiff_t>(right)}});
    i += left;
    j += right;
  }
  return out;
}

std::vector<uint8_t> reshaped_order(DimTable& dims, const Type& from, const std::vector<Dim>& shape) {
  if (from.is_c_order()) return c_order(shape.size());
  std::vector<ReshapeGroup> groups = reshape_groups(dims, from.shape, shape);
  std::vector<uint8_t> memory = from.axis_order(), out;
  std::erase_if(memory, [&](uint8_t axis) { return dims.is_constant(from.shape[axis], 1); });
  for (size_t at = 0; at < memory.size();) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](const ReshapeGroup& g) { return g.from[0] == memory[at]; });
    // A group that is not together and ascending in memory needs a copy.
    bool together = group != groups.end() && at + group->from.size() <= memory.size() &&
                    std::equal(group->from.begin(), group->from.end(), memory.begin() + static_cast<std::ptrdiff_t>(at));
    if (!together) return c_order(shape.size());
    at += group->from.size();
    out.insert(out.end(), group->to.begin(), group->to.end());
  }
  for (int axis = static_cast<int>(shape.size()) - 1; axis >= 0; --axis) {
    if (!dims.is_constant(shape[static_cast<size_t>(axis)], 1)) continue;
    out.insert(std::find(out.begin(), out.end(), axis + 1), static_cast<uint8_t>(axis));
  }
  // Axes of symbolic extent that only the other side names as 1.
  return out.size() == shape.size() ? out : c_order(shape.size());
}

}  // namespace accel
