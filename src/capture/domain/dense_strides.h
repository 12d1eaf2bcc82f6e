#pragma once
// Strides of dense memory, symbolic.

#include <vector>

#include "ir/graph.h"

namespace accel {

// Strides in bytes of gapless memory whose axes from slowest to fastest are `order` (empty = C).
inline std::vector<Dim> dense_strides(DimTable& dims, const std::vector<Dim>& shape, const std::vector<uint8_t>& order,
                                      DType dtype) {
  std::vector<Dim> strides(shape.size());
  Dim stride = dims.constant(item_size(dtype));
  for (size_t k = shape.size(); k-- > 0;) {
    size_t axis = order.empty() ? k : order[k];
    strides[axis] = stride;
    stride = dims.mul(stride, shape[axis]);
  }
  return strides;
}

}  // namespace accel
