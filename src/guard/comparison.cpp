#include "guard/comparison.h"

#include <optional>

namespace accel {

bool compare(int64_t left, Comparison comparison, int64_t right) {
  switch (comparison) {
    case Comparison::eq:
      return left == right;
    case Comparison::ne:
      return left != right;
    case Comparison::lt:
      return left < right;
    case Comparison::le:
      return left <= right;
    case Comparison::gt:
      return left > right;
    case Comparison::ge:
      return left >= right;
  }
  return false;
}

bool is_far(const DimTable& dims, Dim d) {
  constexpr int64_t far = int64_t{1} << 62;
  std::optional<int64_t> value = dims.as_constant(d);
  return value && (*value >= far || *value <= -far);
}

std::vector<Dim> implied_sums(DimTable& dims, Dim left, Comparison comparison, Dim right) {
  if (is_far(dims, left) || is_far(dims, right)) return {};
  Dim up = dims.sub(right, left), down = dims.sub(left, right), one = dims.constant(1);
  switch (comparison) {
    case Comparison::eq:
      return {up, down};
    case Comparison::ne:
      return {};
    case Comparison::lt:
      return {dims.sub(up, one)};
    case Comparison::le:
      return {up};
    case Comparison::gt:
      return {dims.sub(down, one)};
    case Comparison::ge:
      return {down};
  }
  return {};
}

}  // namespace accel
