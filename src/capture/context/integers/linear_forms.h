#pragma once
// Cached decompositions of Dims as linear sums.

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

#include "ir/integers/dim.h"

namespace accel {

class LinearForms {
 public:
  // `dims` must outlive this object, and existing Dims of it must not change.
  explicit LinearForms(DimTable& dims) : dims_(dims) {}

  // left - right if it is constant.
  std::optional<int64_t> difference(Dim left, Dim right) {
    const auto [one, first] = split(left);
    const auto [other, second] = split(right);
    return one == other ? std::optional(static_cast<int64_t>(static_cast<uint64_t>(first) - static_cast<uint64_t>(second)))
                        : std::nullopt;
  }

  // The coefficient of the symbol in d if it is constant.
  std::optional<int64_t> coefficient(Dim d, int symbol) {
    auto [found, fresh] = coefficients_.try_emplace(static_cast<int64_t>(d.id) << 32 | symbol);
    if (fresh) {
      std::optional<Dim> slope = dims_.slope(d, symbol);
      found->second = slope ? dims_.as_constant(*slope) : std::nullopt;
    }
    return found->second;
  }

 private:
  using Parts = std::pair<Dim, int64_t>;  // the sum without its constant term, and that term

  Parts split(Dim d) {
    auto found = parts_.find(d.id);
    if (found == parts_.end()) found = parts_.emplace(d.id, find_parts(d)).first;
    return found->second;
  }

  Parts find_parts(Dim d) {
    if (std::optional<int64_t> value = dims_.as_constant(d)) return {dims_.constant(0), *value};
    if (dims_.kind(d) != DimKind::add) return {d, 0};
    for (Dim term : dims_.operands(d))
      if (std::optional<int64_t> value = dims_.as_constant(term)) return {dims_.sub(d, term), *value};
    return {d, 0};
  }

  DimTable& dims_;
  std::unordered_map<int32_t, Parts> parts_;
  std::unordered_map<int64_t, std::optional<int64_t>> coefficients_;
};

}  // namespace accel
