#pragma once
// Bodies written again: at other indices, with other temps, inside other loops.

#include <map>

#include "schedule/program/program.h"

namespace accel {

Stmt loop_over(Dim variable, Dim extent, LoopKind kind, Body body = {});

// Replaces a symbol in extents, and in the addresses and indices of single elements.
void substitute(DimTable& dims, Body& body, int symbol, Dim by);

// Gives every temp that the body computes a number of its own, as each is assigned in one place. `names`: of temps from
// outside, which gets those of the body.
void rename_temps(Program& program, Body& body, std::map<TempId, TempId>& names);

}  // namespace accel
