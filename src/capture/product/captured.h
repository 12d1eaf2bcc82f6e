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

// A message for people: a fallback, an inlined call, a promoted number.
struct Note {
  Reason reason = Reason::internal_error;
  std::string detail;
  std::string file;
  int line = 0;
};

struct Captured {
  PyRef code;       // code object of the captured function
  Graph graph;      // its outputs are those of all exits, concatenated
  GuardSet guards;  // not sealed
  std::vector<Recipe> recipes;
  std::vector<BoxedCall> calls;  // indexed by the call numbers in the graph
  std::vector<Exit> exits;       // indexed by the exit numbers in the graph; without control flow there is only exits[0]
  std::vector<Note> notes;
  std::string trace;                   // one line for each instruction, if CaptureOptions::trace
  int instructions = 0;                // bytecode instructions evaluated
  bool worth_compiling = false;        // false: only Python bookkeeping precedes the exit
  std::set<Reason> learned;            // CaptureOptions::learned
  std::vector<EventSite> event_sites;  // indexed by the event site numbers of nodes
  int device = -1;                     // number of the CUDA device that the graph is compiled for; -1: the CPU
  int choice = -1;                     // the chosen device for which calls use this version (dispatch/versions/device_choice.h)
};

struct CaptureOptions {
  int budget = 200000;  // instructions
  double seconds = 60;  // of processor time
  // n > 0: exit before the n-th evaluated instruction at which all frames can be rebuilt, if there are that many.
  int stop_before_instruction = 0;
  bool trace = false;
  const std::map<std::string, SeenResult>* seen_results = nullptr;  // results of calls that earlier runs observed, by place
  bool fixed_sizes = false;                                         // extents of arrays are constants, each with a guard
  std::set<Reason> learned;                 // assumptions that failed in earlier versions (is_learned): both cases are compiled
  std::set<std::string> changed_constants;  // texts of sources that earlier versions assumed constant and that changed
};

// Captures `function` called with these locals (localsplus order, borrowed; null = unbound) by abstract interpretation. Runs no
// user code except signal handlers. Fails for internal reasons, or with Reason::interrupted and a pending exception; code that
// cannot be captured becomes an Exit.
Result<Captured> capture(PyObject* function, PyObject* const* locals, int local_count, const CaptureOptions& options);

}  // namespace accel
