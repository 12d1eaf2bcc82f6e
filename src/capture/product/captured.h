#pragma once
// Captured: everything that one capture yields. Product of capture, consumed by dispatch.

#include <Python.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/product/call_site.h"
#include "capture/product/event_sites.h"
#include "capture/product/recipe.h"
#include "guard/guard_set.h"
#include "ir/graph.h"

namespace accel {

// Something a person may want to know: a fallback, an inlined call, a promoted number.
struct Note {
  Reason reason = Reason::internal_error;
  std::string detail;
  std::string file;
  int line = 0;
};

struct Captured {
  PyRef code;       // of the function
  Graph graph;      // its outputs are those of all exits, one after the other
  GuardSet guards;  // not sealed
  std::vector<Recipe> recipes;
  std::vector<BoxedCall> calls;  // by the number that ops of the graph name
  std::vector<Exit> exits;       // by the graph's exit number; captures without control flow have exits[0] only
  std::vector<Note> notes;
  std::string trace;                   // what each instruction did, a line each, when that was asked for
  int instructions = 0;                // bytecode instructions evaluated
  bool worth_compiling = false;        // false: nothing but Python bookkeeping precedes the exit
  std::set<Reason> learned;            // as asked for
  std::vector<EventSite> event_sites;  // by the number that nodes of the graph name
};

struct CaptureOptions {
  int budget = 200000;  // instructions
  double seconds = 60;  // of processor time
  // n > 0: leave before the n-th evaluated instruction at which all frames can be rebuilt, if there are that many.
  int stop_before_instruction = 0;
  bool trace = false;
  const std::map<std::string, SeenResult>* seen_results = nullptr;  // of calls, by place
  bool fixed_sizes = false;                                         // the extents of arrays are constants, each with a guard
  std::set<Reason> learned;                 // assumptions of which calls met both cases: is_learned of base/reasons.h
  std::set<std::string> changed_constants;  // texts of sources that earlier versions took for constants and that have changed
};

// Captures `function` called with these locals (localsplus order, borrowed; null = unbound): interprets the bytecode abstractly
// and runs no user code but functions of signals. Fails for internal reasons, or with Reason::interrupted and an exception;
// what cannot be captured is an Exit.
Result<Captured> capture(PyObject* function, PyObject* const* locals, int local_count, const CaptureOptions& options);

}  // namespace accel
