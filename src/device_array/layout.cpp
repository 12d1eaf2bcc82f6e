#include "device_array/layout.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace accel {

// Whether the elements fill their memory when the axes go from slowest to fastest as in `order`.
static bool fills_memory(std::span<const uint8_t> order, std::span<const int64_t> dims, std::span<const int64_t> strides,
                         int64_t item) {
  int64_t expected = item;
  for (size_t i = order.size(); i-- > 0;) {
    if (dims[order[i]] == 1) continue;
    if (strides[order[i]] != expected) return false;
    expected *= dims[order[i]];
  }
  return true;
}

std::optional<std::vector<uint8_t>> dense_order(std::span<const int64_t> dims, std::span<const int64_t> strides, int64_t item) {
  std::vector<uint8_t> order(dims.size());
  std::iota(order.begin(), order.end(), uint8_t{0});
  bool is_empty = std::find(dims.begin(), dims.end(), 0) != dims.end();
  if (is_empty || fills_memory(order, dims, strides, item)) return order;
  std::vector<uint8_t> reversed(order.rbegin(), order.rend());
  if (fills_memory(reversed, dims, strides, item)) return reversed;
  std::stable_sort(order.begin(), order.end(),
                   [&](uint8_t a, uint8_t b) { return std::abs(strides[a]) > std::abs(strides[b]); });
  if (!fills_memory(order, dims, strides, item)) return std::nullopt;
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
