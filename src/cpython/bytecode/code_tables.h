#pragma once
// The tables of a code object beside its instructions. All positions are code units.

#include <Python.h>

#include <vector>

namespace accel {

struct ExceptionRange {
  int start = 0, end = 0;  // instructions [start, end) are covered
  int target = 0;
  int depth = 0;  // of the stack in the handler, before lasti and the exception are pushed
  bool push_lasti = false;
};

// In order of position; no two overlap.
std::vector<ExceptionRange> exception_ranges(PyCodeObject* code);
// The range that covers `unit`, or null.
const ExceptionRange* find_range(const std::vector<ExceptionRange>& ranges, int unit);

// Line of each code unit, -1 where there is none. Leaves no exception.
std::vector<int> unit_lines(PyCodeObject* code, int unit_count);

}  // namespace accel
