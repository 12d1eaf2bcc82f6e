#pragma once
// Comparisons of sizes, as guards check them.

#include <cstdint>
#include <vector>

#include "ir/integers/dim.h"

namespace accel {

enum class Comparison : uint8_t { eq, ne, lt, le, gt, ge };

bool compare(int64_t left, Comparison comparison, int64_t right);

// Whether d is a constant from which differences with sizes may leave int64.
bool is_far(const DimTable& dims, Dim d);

// The sums that are >= 0 where left `comparison` right holds; none for ne.
std::vector<Dim> implied_sums(DimTable& dims, Dim left, Comparison comparison, Dim right);

}  // namespace accel
