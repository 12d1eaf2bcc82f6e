#pragma once
// CheckedRun: a run of an entry with the call that its guards were checked for, and whether they hold still.

#include <Python.h>

#include <memory>
#include <vector>

#include "capture/product/captured.h"
#include "dispatch/exits/materialiser.h"
#include "dispatch/exits/outputs.h"
#include "guard/guard_set.h"

namespace accel {

// What one call of the table needs at run time.
struct PythonCallPlan {
  OutputPlan operands;
  Materialiser materialiser;
};
// By number; null for other calls.
std::vector<std::unique_ptr<PythonCallPlan>> python_call_plans(const Captured& captured);

// Symbols of a run: those that compiled code binds come after those of the guards.
size_t symbol_count(const Captured& captured);

// Everything outlives the run.
struct CheckedRun {
  const Captured* captured = nullptr;
  const std::vector<std::unique_ptr<PythonCallPlan>>* plans = nullptr;
  PyObject* function = nullptr;
  PyObject* const* locals = nullptr;
  Binding binding;
};

// Whether the guards hold now as they did then: for the same objects, sizes, memory and numbers. `replaced`: what the run
// itself has set, null for nothing.
bool holds_as_checked(const CheckedRun& run, const std::vector<Replaced>* replaced);

}  // namespace accel
