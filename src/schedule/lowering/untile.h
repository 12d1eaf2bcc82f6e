#pragma once
// Removes tiling where tiles have no use.

#include "schedule/program/program.h"

namespace accel {

// Replaces a loop over tiles whose body is one vector loop over the elements of a tile, without memory of its own, by one loop
// over the elements.
void untile(DimTable& dims, Body& body);

}  // namespace accel
