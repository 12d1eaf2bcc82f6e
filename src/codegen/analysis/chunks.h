#pragma once
// Whether a program for a device can run part by part, so that arrays travel while it computes.

#include <optional>

#include "codegen/kernel_source.h"

namespace accel {

// Of a program with one nest, whose iterations of the outermost loop touch memory that moves on from each one to the next.
std::optional<Chunks> find_chunks(const Program& program);

}  // namespace accel
