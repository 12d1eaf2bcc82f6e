#pragma once
// Edits of bodies: substitution of indices, renaming of temps.

#include <map>

#include "schedule/program/program.h"

namespace accel {

Stmt loop_over(Dim variable, Dim extent, LoopKind kind, Body body = {});

// Replaces a symbol in extents, addresses and indices of single elements.
void substitute(DimTable& dims, Body& body, int symbol, Dim by);

// Gives every temp that the body computes a fresh id, as a temp is assigned in one place only. `names`: renamings of outer
// temps, to which those of the body are added.
void rename_temps(Program& program, Body& body, std::map<TempId, TempId>& names);

// Erases a nest that no step runs.
void erase_nest(Program& program, int nest);

}  // namespace accel
