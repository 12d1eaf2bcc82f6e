#pragma once
// Whether a nest may write to memory that it reads.

#include <set>

#include "schedule/program/program.h"

namespace accel {

// Whether a nest that stores to buffers it also reads (`same`: names of one memory) reads each element only before it stores
// that very element: every load is at the address of a store, in the same iteration, before it.
bool reads_before_stores(const DimTable& dims, const Nest& nest, const std::set<BufferId>& same);

// The same for every buffer that is no scratch.
bool stores_in_place(const DimTable& dims, const Nest& nest, const std::vector<Buffer>& buffers);

}  // namespace accel
