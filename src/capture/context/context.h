#pragma once
// The state of one attempt at a capture: the graph, the guards, and the parts that add to them. capture() in
// product/captured.h is the entry point.

#include <Python.h>

#include <string>
#include <vector>

#include "capture/context/constants.h"
#include "capture/context/event_recorder.h"
#include "capture/context/integers/path_facts.h"
#include "capture/context/integers/value_ranges.h"
#include "capture/context/memory/storage_versions.h"
#include "capture/context/sources/resolve.h"
#include "capture/context/sources/side_effects.h"
#include "capture/context/sources/sources.h"
#include "capture/context/speculation_log.h"
#include "capture/context/value_factory.h"
#include "capture/context/walker.h"
#include "capture/product/captured.h"
#include "ir/builder.h"

namespace accel {

class Capture {
 public:
  Capture(Graph& graph, GuardSet& guards, SpeculationLog& speculation);

  Graph& graph() { return graph_; }
  Builder& build() { return builder_; }
  DimTable& dims() { return graph_.dims; }
  GuardSet& guards() { return guards_; }
  SpeculationLog& speculation() { return speculation_; }

  Sources& sources() { return sources_; }
  ChangedObjects& changes() { return changes_; }
  Resolver& resolver() { return resolver_; }
  ValueFactory& values() { return values_; }
  StorageVersions& memory() { return memory_; }
  ValueRanges& ranges() { return ranges_; }
  PathFacts& facts() { return facts_; }
  Constants& constants() { return constants_; }
  EventRecorder& events() { return events_; }

  // --- control -------------------------------------------------------------------------------------------------------
  void attach(Walker* walker) { walker_ = walker; }
  // Compiled code leaves for the interpreter before the instruction that is being captured where `condition` (bool, rank 0) is
  // false. To be called before the instruction changes anything.
  Status require(ValueId condition, Reason reason, std::string detail);
  // The instruction has changed something: memory or a container. `lasts`: Python can see it now or could see it before.
  void note_effect(bool lasts) {
    ++effects_.all;
    effects_.lasting += lasts;
  }
  int64_t effects() const { return effects_.all; }
  int64_t& lasting_effects() { return effects_.lasting; }  // of the path that is walked: saved and restored with it
  // Whether a branch on this integer may become a branch of the graph here.
  bool may_fork(Dim d) const;
  bool in_library() const;         // whether the code that runs is NumPy's own
  bool in_loop() const;            // whether the path is in a loop of the graph
  std::vector<Ref> alive() const;  // all objects that the captured code can get at, but for what an instruction has popped

  // --- calls ---------------------------------------------------------------------------------------------------------
  // Traces a call of a Python function (a constant) as if the current instruction had made it. Used by primitives that forward
  // to functions NumPy implements in Python. The result replaces the primitive's own.
  Result<Ref> call_python(PyObject* function, const CallArguments& arguments);
  // Traces a call of any callable value: primitives, Python functions, dispatchers.
  Result<Ref> call(const Ref& callable, const CallArguments& arguments);
  // Runs a generator to its next yield; nullopt: it has ended.
  Result<std::optional<Ref>> next_of_generator(const Ref& generator);
  // Calls that compiled code asks the process to make (callbacks.h).
  std::vector<BoxedCall>& calls() { return calls_; }
  // Whether the code has calls that may do anything, and so see which object is which.
  bool calls_python() const { return !speculation_.control.calls.empty(); }

  // --- exceptions ----------------------------------------------------------------------------------------------------
  // A will_raise of an exception that handlers in the captured code may catch: the pending Python exception (cleared), or one
  // of this type. Only its type can be seen, so texts need not be Python's.
  Failure raised();
  Failure raised(PyObject* type, const std::string& text);
  Failure raised(PyRef exception);
  // The exception of a failure, null when it is not known.
  PyRef exception_of(const Failure& failure) const;

  // --- notes ---------------------------------------------------------------------------------------------------------
  void note(Reason reason, std::string detail);
  std::vector<Note>& notes() { return notes_; }
  // Names the node of the graph after the instruction that runs.
  void set_location(const std::string& file, int line);
  // The nodes that follow belong to this event site.
  void set_event_site(int site);
  Location location() const { return where_; }

 private:
  struct Effects {
    int64_t all = 0, lasting = 0;
  };
  struct Raised {  // by the last failure that raised() made
    PyRef exception;
    std::string detail;
  };

  Graph& graph_;
  GuardSet& guards_;
  SpeculationLog& speculation_;
  Builder builder_;
  Sources sources_;
  ChangedObjects changes_;
  Resolver resolver_;
  ValueFactory values_;
  StorageVersions memory_;
  ValueRanges ranges_;
  PathFacts facts_;
  Constants constants_;
  EventRecorder events_;
  Walker* walker_ = nullptr;
  Effects effects_;
  std::vector<Note> notes_;
  std::vector<BoxedCall> calls_;
  Raised raised_;
  std::string file_;
  Location where_;
};

}  // namespace accel
