#pragma once
// Code on single elements, which needs no nest or buffer.

#include "schedule/program/program.h"

namespace accel {

// Whether all statements are on single elements, without loops and calls.
bool is_scalar_code(const Body& body);

// Whether in addition all addresses follow from indices: no gather, no scatter.
bool is_indexed_scalar_code(const Body& body);

// Whether a buffer of a segment's program has one element and only scalar code accesses it, so that a temp can replace it.
bool is_scalar_local(const DimTable& dims, const Program& program, BufferId id);

// Whether it is an operation that the text of its row does not compute on a CPU, where a loop of NumPy's does.
bool needs_loop_of_numpy(const Stmt& stmt);

}  // namespace accel
