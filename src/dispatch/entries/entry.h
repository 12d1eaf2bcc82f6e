#pragma once
// Entry: one compiled version of a function: its guards, its kernels, and how results become Python objects. Captured data does
// not change after construction. Every function here requires the GIL.

#include <Python.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "capture/product/captured.h"
#include "dispatch/entries/run.h"
#include "dispatch/entries/run_context.h"
#include "dispatch/entries/second_try.h"
#include "dispatch/launch/workspace.h"
#include "dispatch/reports/python_errors.h"

namespace accel {

class Entry {
 public:
  // Creates an entry without a kernel: its runs end with Outcome::interpret until one is compiled.
  explicit Entry(Captured captured);
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  // Whether the guards hold for this call.
  bool fits(PyObject* function, PyObject* const* locals) const;
  Outcome run(PyObject* function, PyObject* const* locals, RunMode mode, PyObject** result);

  // Compiles the graph, without the GIL. `uses_graphs`: runs on a device launch CUDA graphs.
  Status compile_native(bool keep_texts, bool uses_graphs);
  // Compiles the graph through a backend written in Python, with this call's arguments as its example. Requires fits().
  Status compile_with(PyObject* backend, PyObject* function, PyObject* const* locals);
  // Marks the entry as ready without a kernel, as nothing runs before its exit.
  void compile_nothing() { ready_ = true; }
  // Makes runs whose guards hold end with Outcome::interpret, with this reason.
  void leave_to_interpreter(Reason reason, std::string detail);

  // Whether the graph has no outputs, writes to no argument, makes no calls and has no events.
  bool does_nothing() const;
  // Whether it makes calls of unknown code.
  bool calls_python() const { return context_.plan.calls_python; }
  // Whether a run changes only arguments, what is reached through them, and generators.
  bool changes_only_arguments() const;
  // Whether the guards hold for every call: none tests an argument, or a value that may change.
  bool fits_every_call() const;
  // Whether no exit is partial (partial_exit): calls end in a return, an error or a failed check.
  bool is_full() const { return partial_exit() < 0 && ready_; }
  // The first exit that leaves for the interpreter in normal operation; -1: none.
  int partial_exit() const { return context_.plan.partial_exit; }
  bool is_ready() const { return ready_; }
  bool is_exceptional(int exit) const { return accel::is_exceptional(captured(), exit); }
  // Why calls of this version are not compiled as a whole.
  Fallback fallback() const;
  // What an exit leaves to the interpreter. Requires ExitKind::resume.
  Fallback fallback_at(int exit) const;
  // The assumption whose failure ended the last run, when another version could handle both of its cases and this one handles
  // only one.
  std::optional<Reason> met_other_way() const;

  // The number of the entry in the process, in order of creation.
  int64_t serial() const { return serial_; }
  // The chosen device of calls that may use this version; by_arguments: any.
  int choice() const { return context_.captured.choice; }
  const Captured& captured() const { return context_.captured; }
  const Compilation* compilation() const { return context_.kernels.compilation(); }
  const EventPolicy& events() const { return context_.events; }
  const RunHistory& history() const { return context_.history; }
  RunHistory& history() { return context_.history; }
  Trial& trial() { return context_.trial; }
  SecondTry& second_try() { return second_try_; }

  int traverse(visitproc visit, void* arg) const;

 private:
  Binding binding_in(Workspace& space) const;

  int64_t serial_;
  RunContext context_;
  bool ready_ = false;
  Reason left_reason_ = Reason::not_profitable;
  std::string left_detail_;
  SecondTry second_try_;
};

}  // namespace accel
