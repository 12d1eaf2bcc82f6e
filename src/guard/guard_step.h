#pragma once
// GuardStep: what a sealed set of guards does with one source: it reads it, or tests one thing about it. Private to this
// folder.

#include <Python.h>

#include <cstdint>
#include <vector>

#include "guard/guard_set.h"
#include "guard/guard_test.h"

namespace accel {

struct GuardStep {
  bool reads = false;
  GuardKind kind = GuardKind::identity;  // of a test
  SourceId source = -1;
  SourceId other = -1;           // same, same_names, disjoint, bound
  PyObject* object = nullptr;    // borrowed from the guard
  int64_t value = 0;             // length, writeable, distinct, disjoint; array: index of its ArrayTest; number: first symbol
  DType dtype = DType::float64;  // number
};

GuardStep reading_step(SourceId source);
// Of a guard that is no relation. Adds to `arrays` what the test of an array needs.
GuardStep testing_step(const Guard& guard, std::vector<ArrayTest>& arrays);

// Whether the guard of a test holds for `object` (null: there is none); binds the symbols and the input of the guard. `other`:
// the object of GuardStep::other, or null.
bool holds(const GuardStep& step, PyObject* object, PyObject* other, const ArrayTest* arrays, Binding& binding);

}  // namespace accel
