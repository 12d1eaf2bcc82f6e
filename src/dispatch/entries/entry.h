#pragma once
// Entry: one compiled version of a function: what it assumed, its kernels, and how to make Python objects of their results.
// What it was captured as does not change after construction. Every function here requires the GIL.

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
  // Nothing is compiled yet: runs end with Outcome::interpret until a kernel is there.
  explicit Entry(Captured captured);
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  // Whether the guards hold for this call.
  bool fits(PyObject* function, PyObject* const* locals) const;
  Outcome run(PyObject* function, PyObject* const* locals, RunMode mode, PyObject** result);

  // Compiles the graph; releases the GIL meanwhile.
  Status compile_native(bool keep_texts);
  // The same through a backend written in Python, with this call's arguments as its example. Requires fits().
  Status compile_with(PyObject* backend, PyObject* function, PyObject* const* locals);
  // There is nothing to run before the exit.
  void compile_nothing() { ready_ = true; }
  // From now on runs whose guards hold end with Outcome::interpret.
  void leave_to_interpreter(Reason reason, std::string detail);

  // Whether the graph neither hands anything over nor writes to an argument.
  bool does_nothing() const;
  // Whether a run leaves no trace but in what is found through its arguments, and in generators.
  bool changes_only_arguments() const;
  // Whether the guards hold for every call: none tests an argument, or a value that may differ at the next call.
  bool fits_every_call() const;
  // Whether every call ends in a return, or in an error or a failed check, so that nothing else is left to the interpreter.
  bool is_full() const { return partial_exit() < 0 && ready_; }
  // The first exit through which calls leave for the interpreter in the ordinary course of things; -1: none.
  int partial_exit() const { return context_.plan.partial_exit; }
  bool is_ready() const { return ready_; }
  bool is_exceptional(int exit) const { return accel::is_exceptional(captured(), exit); }
  // Why calls like these are not compiled as a whole.
  Fallback fallback() const;
  // What is left to the interpreter at an exit. Requires ExitKind::resume.
  Fallback fallback_at(int exit) const;
  // What the last call left for, where a version can handle both cases of a learned assumption and this one handles one.
  std::optional<Reason> met_other_way() const;

  // Number of the entry in the process, in the order in which entries were made.
  int64_t serial() const { return serial_; }
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
