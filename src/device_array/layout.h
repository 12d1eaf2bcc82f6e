#pragma once
// How the elements of an array lie in memory.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace accel {

// Axes from slowest to fastest (C order or else Fortran order where one of these describes it) if the elements fill their
// memory without gaps or repetition, in the direction of the addresses.
std::optional<std::vector<uint8_t>> dense_order(std::span<const int64_t> dims, std::span<const int64_t> strides, int64_t item);

// The bytes that elements lie in, relative to element 0: begin <= 0 < end, or both 0 without elements.
struct ByteSpan {
  int64_t begin = 0, end = 0;
  int64_t bytes() const { return end - begin; }
};
ByteSpan byte_span(std::span<const int64_t> dims, std::span<const int64_t> strides, int64_t item);

}  // namespace accel
