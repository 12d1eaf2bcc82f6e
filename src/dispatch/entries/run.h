#pragma once
// Run: one run of an entry: the launch of its kernel, the validity of its results, and how the call ends. Requires the GIL.

#include <Python.h>

#include <memory>
#include <optional>
#include <vector>

#include "dispatch/calls/boxed_calls.h"
#include "dispatch/entries/run_context.h"
#include "dispatch/launch/workspace.h"
#include "dispatch/signals/interrupt.h"

namespace accel {

enum class Outcome : uint8_t {
  no_match,     // a guard does not hold
  returned,     // *result is the function's result
  resumed,      // the interpreter finished the call from an exit: *result is its result or null with an exception
  interpret,    // the entry leaves this call to the interpreter
  events,       // a floating-point event needs NumPy's warning: the run left no effects, the interpreter runs the call
  gave_up,      // the kernel failed for another reason: the run left no effects, the interpreter runs the call
  refused,      // the call left compiled code through an exit that the stance forbids
  raised,       // an exception is set: the call ends with it
  interrupted,  // *result is the interpreter's result of the call, in which the exception was raised at its start
};

enum class RunMode : uint8_t {
  ordinary,
  whole,      // exits to the interpreter are refused, except where NumPy raises or warns
  rehearsal,  // on copies of a call's arguments: every exit is refused, and the state of generators is restored
};

class Run {
 public:
  // Requires that the guards hold with `binding`. All arguments outlive the run; `space` has room for RunContext::plan.
  Run(RunContext& context, PyObject* function, PyObject* const* locals, const Binding& binding, RunMode mode, Workspace& space)
      : context_(context), function_(function), locals_(locals), binding_(binding), mode_(mode) {
    const OutputPlan& outputs = context.plan.outputs;
    outputs_.arrays = space.take<PyObject*>(outputs.count());
    outputs_.data = space.take<void*>(outputs.count());
    outputs_.numbers = space.take<int64_t>(2 * outputs.count());
    objects_ = space.take<PyObject*>(context.captured.recipes.size());
    outputs.prepare(outputs_);
    if (context.plan.makes_calls) prepare_calls(space);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Runs the kernel and ends the call. To be called once.
  Outcome execute(PyObject** result) { return context_.plan.calls_python ? launch_timed(result) : launch(result); }

 private:
  // Effects of interrupts on the running kernel.
  struct Interruption {
    std::optional<SavedException> exception;  // has interrupted the kernel and will be raised
    bool is_held = false;                     // the run holds references to the objects that the kernel uses
    std::vector<Replaced> published;          // values replaced by stores that were made before the end of the run
  };
  Interruption& interruption() {
    if (!interruption_) interruption_ = std::make_unique<Interruption>();
    return *interruption_;
  }
  bool is_interrupted() const { return interruption_ && interruption_->exception; }
  PythonCalls* python() { return calls_ ? calls_->python() : nullptr; }
  bool has_called_python() { return python() != nullptr && python()->has_begun(); }
  CheckedRun checked_run() const;
  void prepare_calls(Workspace& space);

  Outcome launch(PyObject** result);
  Outcome launch_timed(PyObject** result);
  int run_kernel();
  int run_python();
  int run_on_device();
  int run_on_host_copies();
  int allocate_and_run(const NativeKernel& kernel, void** inputs);
  int run_native(const NativeKernel& kernel, void** inputs);
  void note_interruption(bool was_interrupted);
  void take_references(bool take) const;
  // Callbacks of the kernel's Interruptible; `run` is a Run.
  static void hold(void* run);
  static bool still_holds(void* run);
  static void submit_launches(void* run);
  static void publish(void* run, int exit);

  Outcome judge(int status);
  Outcome warn();
  Outcome abandon(Outcome why, PyObject** result);
  Outcome raise_late(Outcome outcome, PyObject** result);
  Outcome left_in_call(PyObject** result);
  Outcome go_back(Outcome why, PyObject** result);
  const PythonCall& last_call_site();
  void leave_behind_call(Reason reason, std::string detail);
  // Sets the symbols that the kernel has bound, for the exit's recipes.
  void bind_symbols(const Exit& exit) {
    for (const BoundSymbol& bound : exit.symbols)
      binding_.symbols[bound.symbol] = *static_cast<const int64_t*>(outputs_.data[bound.output]);
  }
  Outcome finish(PyObject** result);
  Outcome not_made(PyObject** result);
  Outcome leave(PyObject** result);

  RunContext& context_;
  PyObject* function_;
  PyObject* const* locals_;
  const Binding& binding_;
  Outputs outputs_;
  PyObject** objects_;  // by recipe
  RunEvents events_;
  int exit_ = 0;
  RunMode mode_;
  bool cannot_run_again_ = false;               // a failed run on a device: the interpreter cannot make the call instead
  std::unique_ptr<Interruption> interruption_;  // null while no interrupt has had an effect
  std::optional<BoxedCalls> calls_;             // if the graph makes calls
};

}  // namespace accel
