#include "device_array/layout.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace accel {

std::optional<std::vector<uint8_t>> dense_order(std::span<const int64_t> dims, std::span<const int64_t> strides, int64_t item) {
  std::vector<uint8_t> order(dims.size());
  std::iota(order.begin(), order.end(), uint8_t{0});
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return order;
  std::stable_sort(order.begin(), order.end(),
                   [&](uint8_t a, uint8_t b) { return std::abs(strides[a]) > std::abs(strides[b]); });
  int64_t expected = item;
  for (size_t i = order.size(); i-- > 0;) {
    if (dims[order[i]] == 1) continue;
    if (strides[order[i]] != expected) return std::nullopt;
    expected *= dims[order[i]];
  }
  return order;
}

ByteSpan byte_span(std::span<const int64_t> dims, std::span<const int64_t> strides, int64_t item) {
  ByteSpan span{0, item};
  for (size_t axis = 0; axis < dims.size(); axis++) {
    if (dims[axis] == 0) return {};
    int64_t last = (dims[axis] - 1) * strides[axis];
    (last < 0 ? span.begin : span.end) += last;
  }
  return span;
}

}  // namespace accel
