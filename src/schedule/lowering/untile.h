#pragma once
// Tiles that serve nothing become plain loops.

#include "schedule/program/program.h"

namespace accel {

// A loop over tiles whose body is one vector loop over the elements of a tile, without memory of its own, becomes one loop
// over the elements.
void untile(DimTable& dims, Body& body);

}  // namespace accel
