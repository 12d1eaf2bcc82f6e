#pragma once
// Sets of axes, as the attributes of nodes have them.

#include <algorithm>
#include <vector>

#include "ir/integers/dim.h"

namespace accel {

inline bool contains_axis(const std::vector<int>& axes, int axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

// A shape, or the strides of one, less those of `axes`.
inline std::vector<Dim> without_axes(const std::vector<Dim>& dims, const std::vector<int>& axes) {
  std::vector<Dim> out;
  for (size_t k = 0; k < dims.size(); ++k) {
    if (!contains_axis(axes, static_cast<int>(k))) out.push_back(dims[k]);
  }
  return out;
}

}  // namespace accel
