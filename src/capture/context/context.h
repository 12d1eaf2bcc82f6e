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
  // Emits an exit to the interpreter before the running instruction, taken where `condition` (bool, rank 0) is false. Must be
  // called before the instruction changes anything. `is_deferrable`: as in Terminator.
  Status require(ValueId condition, Reason reason, std::string detail, bool is_deferrable = false);
  // The instruction has changed memory or a container. `lasts`: the change is visible to Python, now or at the start of the
  // call.
  void note_effect(bool lasts) {
    ++effects_.all;
    effects_.lasting += lasts;
  }
  int64_t effects() const { return effects_.all; }
  int64_t& lasting_effects() { return effects_.lasting; }  // of the current path: saved and restored with it
  // Whether a branch on this integer may become a branch of the graph here.
  bool may_fork(Dim d) const;
  bool in_library() const;  // whether the running code is NumPy's own
  bool in_loop() const;     // whether the path is in a loop of the graph
  // All objects that the captured code can reach, without those that the instruction has popped.
  std::vector<Ref> alive() const;

  // --- calls ---------------------------------------------------------------------------------------------------------
  // Walks a call of a Python function (a constant) as if the running instruction had made it. For primitives that forward to
  // functions which NumPy implements in Python; the result is that of the primitive.
  Result<Ref> call_python(PyObject* function, const CallArguments& arguments);
  // Walks a call of any callable value: primitive, Python function, dispatcher.
  Result<Ref> call(const Ref& callable, const CallArguments& arguments);
  // Runs a generator to its next yield; nullopt when it is exhausted.
  Result<std::optional<Ref>> next_of_generator(const Ref& generator);
  // Calls that compiled code asks the process to make (callbacks.h).
  std::vector<BoxedCall>& calls() { return calls_; }
  // Whether the code makes calls that are not captured, which can observe identities of objects.
  bool calls_python() const { return !speculation_.control.calls.empty(); }

  // --- exceptions ----------------------------------------------------------------------------------------------------
  // A will_raise failure whose exception handlers of the captured code may catch: the pending Python exception (cleared), one
  // of this type, or this one. Handlers can only see its type, so the text may differ from Python's.
  Failure raised();
  Failure raised(PyObject* type, const std::string& text);
  Failure raised(PyRef exception);
  // The exception of a failure; null if it is unknown.
  PyRef exception_of(const Failure& failure) const;

  // --- notes ---------------------------------------------------------------------------------------------------------
  void note(Reason reason, std::string detail);
  std::vector<Note>& notes() { return notes_; }
  // Sets the source location of the nodes that follow.
  void set_location(const std::string& file, int line);
  // Sets the event site of the nodes that follow.
  void set_event_site(int site);
  Location location() const { return where_; }

 private:
  struct Effects {
    int64_t all = 0, lasting = 0;
  };
  struct Raised {  // of the last failure that raised() made
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
