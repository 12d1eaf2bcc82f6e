#pragma once
// CheckedRun: a run of an entry with the call that its guards were checked for, and a repeated check of them.

#include <Python.h>

#include <memory>
#include <vector>

#include "capture/product/captured.h"
#include "dispatch/exits/materialiser.h"
#include "dispatch/exits/outputs.h"
#include "guard/guard_set.h"

namespace accel {

// What a call site needs at run time.
struct PythonCallPlan {
  OutputPlan operands;
  Materialiser materialiser;
};
// By call; null for calls that are not of unknown code.
std::vector<std::unique_ptr<PythonCallPlan>> python_call_plans(const Captured& captured);

// The number of symbols of a run: those of the guards, then those that compiled code binds.
size_t symbol_count(const Captured& captured);

// All that it refers to outlives the run.
struct CheckedRun {
  const Captured* captured = nullptr;
  const std::vector<std::unique_ptr<PythonCallPlan>>* plans = nullptr;
  PyObject* function = nullptr;
  PyObject* const* locals = nullptr;
  Binding binding;
};

// Whether the guards still hold for the same objects, sizes, memory and numbers. `replaced`: stores of the run itself, which
// are ignored; null for none.
bool holds_as_checked(const CheckedRun& run, const std::vector<Replaced>* replaced);

}  // namespace accel
