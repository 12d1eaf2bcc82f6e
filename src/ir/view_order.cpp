#include "ir/view_order.h"

#include <algorithm>
#include <numeric>

namespace accel {

namespace {

std::vector<uint8_t> c_order(size_t rank) {
  std::vector<uint8_t> out(rank);
  std::iota(out.begin(), out.end(), uint8_t{0});
  return out;
}

bool contains(const std::vector<int>& axes, int axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }

}  // namespace

std::vector<uint8_t> transposed_order(const Type& from, const std::vector<int>& axes) {
  std::vector<uint8_t> place(axes.size());
  for (size_t k = 0; k < axes.size(); ++k) place[static_cast<size_t>(axes[k])] = static_cast<uint8_t>(k);
  std::vector<uint8_t> out;
  for (uint8_t axis : from.axis_order()) out.push_back(place[axis]);
  return out;
}

std::vector<uint8_t> expanded_order(const Type& from, const std::vector<int>& axes) {
  int rank = from.rank() + static_cast<int>(axes.size());
  std::vector<int> kept;
  for (int axis = 0; axis < rank; ++axis) {
    if (!contains(axes, axis)) kept.push_back(axis);
  }
  std::vector<uint8_t> out;
  for (uint8_t axis : from.axis_order()) out.push_back(static_cast<uint8_t>(kept[axis]));
  for (int axis = rank - 1; axis >= 0; --axis) {
    if (!contains(axes, axis)) continue;
    auto follower = std::find(out.begin(), out.end(), axis + 1);
    out.insert(follower, static_cast<uint8_t>(axis));
  }
  return out;
}

std::vector<uint8_t> order_without(const Type& from, const std::vector<int>& axes) {
  std::vector<uint8_t> out;
  for (uint8_t axis : from.axis_order()) {
    if (contains(axes, axis)) continue;
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

// Old axes [old_begin, old_end) hold the same elements as new axes [new_begin, new_end).
struct Group {
  size_t old_begin, old_end, new_begin, new_end;
};

// Pairs the smallest groups of axes with equal products; one group of everything when products never meet.
std::vector<Group> matching_groups(DimTable& dims, const std::vector<Dim>& from, const std::vector<Dim>& to) {
  std::vector<Group> out;
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    Group group{i, i + 1, j, j + 1};
    // The first (then smallest) pair of ends whose products agree.
    bool found = false;
    for (size_t span = 2; !found && span <= from.size() - i + to.size() - j; ++span) {
      for (size_t left = 1; !found && left < span; ++left) {
        if (i + left > from.size() || j + span - left > to.size()) continue;
        group.old_end = i + left;
        group.new_end = j + span - left;
        found = dims.product(std::span(from).subspan(i, left)) == dims.product(std::span(to).subspan(j, span - left));
      }
    }
    if (!found) group = {i, from.size(), j, to.size()};
    out.push_back(group);
    i = group.old_end;
    j = group.new_end;
  }
  return out;
}

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

}  // namespace

std::vector<uint8_t> reshaped_order(DimTable& dims, const Type& from, const std::vector<Dim>& shape) {
  if (from.is_c_order()) return c_order(shape.size());
  std::vector<uint8_t> old_axes = wide_axes(dims, from.shape), new_axes = wide_axes(dims, shape);
  std::vector<uint8_t> memory = from.axis_order();
  std::erase_if(memory, [&](uint8_t axis) { return std::find(old_axes.begin(), old_axes.end(), axis) == old_axes.end(); });
  std::vector<Group> groups = matching_groups(dims, pick(from.shape, old_axes), pick(shape, new_axes));
  std::vector<uint8_t> out;
  for (size_t at = 0; at < memory.size();) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return old_axes[g.old_begin] == memory[at]; });
    if (group == groups.end()) return c_order(shape.size());
    for (size_t k = group->old_begin; k < group->old_end; ++k, ++at) {
      if (at >= memory.size() || memory[at] != old_axes[k]) return c_order(shape.size());
    }
    for (size_t k = group->new_begin; k < group->new_end; ++k) out.push_back(new_axes[k]);
  }
  for (int axis = static_cast<int>(shape.size()) - 1; axis >= 0; --axis) {
    if (!dims.is_constant(shape[static_cast<size_t>(axis)], 1)) continue;
    out.insert(std::find(out.begin(), out.end(), axis + 1), static_cast<uint8_t>(axis));
  }
  return out;
}

}  // namespace accel
