#pragma once
// RunPlan: what the runs of a captured function need, prepared once: memory of results, objects of exits and calls, and what
// stays alive meanwhile.

#include <Python.h>

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "capture/product/captured.h"
#include "dispatch/calls/checked_run.h"
#include "dispatch/entries/work.h"
#include "dispatch/exits/materialiser.h"
#include "dispatch/exits/outputs.h"
#include "dispatch/reports/python_errors.h"

namespace accel {

// Whether calls leave through the exit only when something unusual happens: an error, a failed check.
bool is_exceptional(const Captured& captured, int exit);

// Where and why calls are left to the interpreter: at a location of the captured code.
Fallback fallback_at(const Captured& captured, Location where, Reason reason, std::string detail);

// The stores of an exit that others may see while the run goes on.
struct PublishedStores {
  Exit exit;
  Materialiser materialiser;
};

// Does not change after construction.
struct RunPlan {
  explicit RunPlan(const Captured& captured);  // which outlives this
  RunPlan(const RunPlan&) = delete;
  RunPlan& operator=(const RunPlan&) = delete;

  OutputPlan outputs;
  std::vector<Materialiser> materialisers;                    // by exit
  std::vector<std::unique_ptr<PythonCallPlan>> python_calls;  // by call
  std::map<int, PublishedStores> published;                   // by exit for interrupted runs
  WorkEstimate work;
  std::vector<SourceId> held_sources;  // of the objects that a run uses
  std::vector<SourceId> input_arrays;  // by the number of the array among the inputs, of a graph that makes calls
  // The first exit through which calls leave for the interpreter in the ordinary course of things; -1: none.
  int partial_exit = -1;
  bool writes_inputs = false;
  bool makes_calls = false;
  bool calls_python = false;    // functions that may do anything
  bool has_interrupts = false;  // exits for runs that are interrupted
  size_t symbol_count = 0;
  size_t words = 0;  // of the Workspace of one run

 private:
  void find_exits(const Captured& captured);
  void add_calls(const Captured& captured, std::set<SourceId>& wanted);
  void find_published(const Captured& captured);
};

}  // namespace accel
