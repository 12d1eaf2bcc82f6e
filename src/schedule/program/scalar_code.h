#pragma once
// Code on single elements, which needs no nest and no memory of its own.

#include "schedule/program/program.h"

namespace accel {

// Whether all statements of a nest are on single elements, without loops and calls.
bool is_scalar_code(const Body& body);

// Whether their places in memory follow from indices alone, too: no gather, no scatter.
bool is_indexed_scalar_code(const Body& body);

// Whether a buffer of a segment's program is a scalar that only such nests load and store: a temp will do. `dims` holds the
// program's extents.
bool is_scalar_local(const DimTable& dims, const Program& program, BufferId id);

}  // namespace accel
