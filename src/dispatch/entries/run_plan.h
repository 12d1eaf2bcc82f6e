#pragma once
// RunPlan: data for the runs of a captured function, prepared once: layouts of results, recipes of exits and calls, and sources
// whose objects must stay alive.

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

// Whether an exit is only taken in exceptional cases: after an error or a failed check.
bool is_exceptional(const Captured& captured, int exit);

// A fallback to the interpreter at a location of the captured code.
Fallback fallback_at(const Captured& captured, Location where, Reason reason, std::string detail);

// The stores of an exit that may be made while the run continues.
struct PublishedStores {
  Exit exit;
  Materialiser materialiser;
};

// Does not change after construction.
struct RunPlan {
  explicit RunPlan(const Captured& captured);  // outlives this
  RunPlan(const RunPlan&) = delete;
  RunPlan& operator=(const RunPlan&) = delete;

  OutputPlan outputs;
  std::vector<Materialiser> materialisers;                    // by exit
  std::vector<std::unique_ptr<PythonCallPlan>> python_calls;  // by call
  std::map<int, PublishedStores> published;                   // by exit of interrupted runs
  WorkEstimate work;
  std::vector<SourceId> held_sources;  // sources of objects that a run uses
  std::vector<SourceId> input_arrays;  // per array input of a graph that makes calls: its source
  // The first exit that leaves for the interpreter in normal operation; -1: none.
  int partial_exit = -1;
  bool writes_inputs = false;
  bool makes_calls = false;
  bool calls_python = false;    // calls of unknown code
  bool has_interrupts = false;  // has exits for interrupted runs
  size_t symbol_count = 0;
  size_t words = 0;  // size of the Workspace of one run

 private:
  void find_exits(const Captured& captured);
  void add_calls(const Captured& captured, std::set<SourceId>& wanted);
  void find_published(const Captured& captured);
};

}  // namespace accel
