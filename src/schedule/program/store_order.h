#pragma once
// Whether a nest may store to memory that it also reads.

#include <set>

#include "schedule/program/program.h"

namespace accel {

// Whether a nest loads each element of `same` (ids of one memory) only before it stores that very element: every load is at the
// address of a store in the same iteration, before it.
bool reads_before_stores(const DimTable& dims, const Nest& nest, const std::set<BufferId>& same);

// Whether reads_before_stores holds for every buffer that the nest stores to, other than scratch.
bool stores_in_place(const DimTable& dims, const Nest& nest, const std::vector<Buffer>& buffers);

}  // namespace accel
