#pragma once
// Arrays as rows along an axis.

#include <cstdint>
#include <functional>
#include <numeric>
#include <span>

#include "codegen/library_texts.h"

namespace accel {

inline int64_t count_of(std::span<const int64_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

inline RowLayout rows_along(int axis, std::span<const int64_t> dims, std::span<const int64_t> strides) {
  RowLayout rows;
  rows.along = strides[static_cast<size_t>(axis)];
  for (size_t k = 0; k < dims.size(); ++k) {
    if (static_cast<int>(k) == axis) continue;
    rows.shape[rows.rank] = dims[k];
    rows.steps[rows.rank++] = strides[k];
  }
  return rows;
}

}  // namespace accel
