#pragma once
// Entry: one compiled version of a function: what it assumed, its kernel, and how to make Python objects of the kernel's
// results. Immutable once published, but for its counters. Every function here requires the GIL.

#include <Python.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/product/captured.h"
#include "compile.h"
#include "dispatch/backends/python_kernel.h"
#include "dispatch/calls/boxed_calls.h"
#include "dispatch/events/event_plan.h"
#include "dispatch/exits/materialiser.h"
#include "dispatch/exits/outputs.h"
#include "dispatch/reports/python_errors.h"
#include "dispatch/versions/patience.h"
#include "dispatch/versions/second_try.h"
#include "dispatch/versions/trial.h"
#include "dispatch/versions/work.h"
#include "ndarray/loops.h"

namespace accel {

enum class Outcome : uint8_t {
  no_match,     // a guard does not hold
  returned,     // *result is the function's result
  resumed,      // the interpreter finished the call from an exit on: *result is its result or null with an exception
  interpret,    // the entry says that the interpreter runs this call
  events,       // a floating-point event needs NumPy's warning: nothing visible has happened, the interpreter runs the call
  gave_up,      // the kernel failed without such an event: nothing visible has happened, the interpreter runs the call
  refused,      // the call left compiled code through an exit that the stance forbids
  raised,       // an exception is set: the call ends with it
  interrupted,  // *result is what the interpreter made of the call, at whose start the exception was raised
};

class Workspace;

class Entry {
 public:
  // Takes over what was captured. Nothing is compiled yet: the entry says `interpret` until a kernel is there.
  explicit Entry(Captured captured);
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  // Whether the guards hold for this call.
  bool fits(PyObject* function, PyObject* const* locals) const;

  // Compiles the graph; releases the GIL meanwhile.
  Status compile_native(bool keep_texts);
  // The same through a backend written in Python, with this call's arguments as its example. Requires fits().
  Status compile_with(PyObject* backend, PyObject* function, PyObject* const* locals);
  // There is nothing to run before the exit.
  void compile_nothing() { ready_ = true; }
  // Whether the graph neither hands anything over nor writes to an argument.
  bool does_nothing() const;
  // From now on the entry only says that the interpreter runs calls like these.
  void leave_to_interpreter(Reason reason, std::string detail);

  enum class Mode : uint8_t {
    ordinary,
    whole,      // exits to the interpreter are refused, but for those where NumPy raises or warns
    rehearsal,  // on copies of a call's arguments: every exit is refused, and generators get their state back
  };
  Outcome run(PyObject* function, PyObject* const* locals, Mode mode, PyObject** result);

  // Whether a run leaves no trace but in what is found through its arguments, and in generators.
  bool changes_only_arguments() const;

  // Whether every call ends in a return, or in an error or a failed check, so that nothing else is left to the interpreter.
  bool is_full() const { return partial_exit_ < 0 && ready_; }
  // The first exit through which calls leave for the interpreter in the ordinary course of things; -1: none.
  int partial_exit() const { return partial_exit_; }
  bool is_ready() const { return ready_; }
  // Why calls like these are not compiled as a whole.
  Fallback fallback() const;
  // What is left to the interpreter at an exit. Requires ExitKind::resume.
  Fallback fallback_at(int exit) const;
  // Whether calls leave through the exit only when something unusual happens: an error, a failed check.
  bool is_exceptional(int exit) const;
  // Place and result of a call that gave something else than assumed, as the last call has found out.
  std::optional<std::pair<std::string, SeenResult>> take_seen_result() { return std::exchange(seen_result_, std::nullopt); }
  const std::optional<std::pair<std::string, SeenResult>>& seen_result() const { return seen_result_; }
  // What the last call left for, where a version can handle that and its opposite and this one does not.
  std::optional<Reason> met_other_way() const;
  // Where and why the last call ended behind a call that it made, when it did.
  const std::optional<Fallback>& left_behind_call() const { return left_behind_call_; }
  // How many calls left through the exit.
  int64_t times_taken(int exit) const { return times_taken_[exit]; }
  // The exit that the last call took.
  int last_exit() const { return last_exit_; }
  const Captured& captured() const { return captured_; }
  const Compilation* compilation() const { return compilation_.get(); }
  // Nothing but the place decides: no guard looks at an argument, or at a value that may be another one at the next call.
  bool fits_every_call() const;

  // Number of the entry in the process, in the order in which entries were made.
  int64_t serial() const { return serial_; }
  Trial& trial() { return trial_; }
  SecondTry& second_try() { return second_try_; }
  int64_t runs() const { return runs_; }
  int64_t event_count() const { return events_; }
  // Which floating-point events the last call was left for, and of which operations.
  const std::string& last_events() const { return last_events_; }
  // Why the last call gave up.
  const Failure& last_problem() const { return problem_; }

  int traverse(visitproc visit, void* arg) const;

 private:
  struct Asked;
  struct Call;
  Outcome launch(Call& call, PyObject** result);
  Outcome raise_late(Call& call, Outcome outcome, PyObject** result);
  CheckedRun checked_run(const Call& call) const;
  Outcome launch_timed(Call& call, PyObject** result);
  Outcome finish(Call& call, PyObject** result);
  Outcome leave(Call& call, PyObject** result);
  Outcome judge(Call& call, int status);
  bool asks_after_run() const;
  static void hold(void* context);
  static bool still_holds(void* context);
  static void show(void* context, int exit);
  bool is_of_argument(SourceId source) const;
  bool may_be_quieter(int events) const;
  bool compile_quiet();
  Outcome judge_events(Call& call, int events);
  void set_events(Call& call, AccelLaunch& launch);
  bool asks_of_log(const Call& call) const;
  void set_open_events(Call& call, AccelLaunch& launch);
  static uint8_t* copy_tables(Call& call, const std::vector<uint8_t>& tables);
  bool records(Call& call);
  Outcome warn(Call& call);
  bool compile_recording();
  Status add_recording(const Compilation& compilation);
  int run_kernel(Call& call);
  int run_native(Call& call);
  Outcome left_in_call(Call& call, PyObject** result);
  Outcome go_back(Call& call, Outcome why, PyObject** result);
  void take_references(Call& call, bool take) const;
  std::string file_of(Location where) const;
  size_t words() const;
  size_t symbol_count() const;
  Binding binding_in(Workspace& space) const;
  std::span<AccelDraw> draws_in(Workspace& space) const;
  void find_draw_functions();

  int64_t serial_;
  Captured captured_;
  OutputPlan plan_;
  std::vector<Materialiser> materialisers_;                    // by exit
  std::vector<std::unique_ptr<PythonCallPlan>> python_plans_;  // by call
  bool calls_python_ = false;
  // By exit for interrupted runs: those of its stores that others may see while the run goes on.
  struct Shown {
    Exit exit;
    Materialiser materialiser;
  };
  std::map<int, Shown> shown_;
  std::optional<Fallback> left_behind_call_;
  std::optional<std::pair<std::string, SeenResult>> seen_result_;
  WorkEstimate work_;
  int partial_exit_ = -1;
  bool writes_inputs_ = false;
  bool has_interrupts_ = false;  // exits for runs that are interrupted
  EventPlan event_plan_;
  std::unique_ptr<Compilation> compilation_;
  // The same with quiet comparisons, once a call had an invalid event that only a NaN may have been the reason of.
  std::shared_ptr<const CompiledKernel> quiet_kernel_;
  enum class Nan : uint8_t { not_met, met, heeded } nan_ = Nan::not_met;
  // The same where it says which operation had which event, once a call had one that was heard.
  struct Recording {
    std::shared_ptr<const CompiledKernel> kernel;
    std::vector<ResolvedLoop> loops;
    std::vector<AccelImport> imports;
    bool allocates_first = true;
  };
  std::unique_ptr<Recording> recording_;
  enum class Events : uint8_t { not_heard, heard, compiled } events_state_ = Events::not_heard;
  int calls_to_record_ = 0;
  bool always_records_ = false;      // the only kernel does
  bool asks_what_is_shown_ = false;  // before a run, whether warnings have been shown already
  bool has_flow_ = false;            // of the kernel
  bool allocates_first_ = true;      // all results before the kernel runs; else it asks for those of the exit it takes
  std::vector<ResolvedLoop> loops_;
  std::vector<AccelImport> imports_;
  std::vector<AccelDraw> draws_;  // by call, without streams
  bool opens_draws_ = false;
  std::unique_ptr<PythonKernel> python_kernel_;
  std::vector<SourceId> held_sources_;
  std::vector<SourceId> input_arrays_;  // by the number of the guard, of a graph that makes calls
  bool ready_ = false;
  Reason left_reason_ = Reason::not_profitable;
  std::string left_detail_;
  void forget_problem() {
    problem_.reason = Reason::internal_error;
    problem_.detail.clear();
  }
  Failure problem_;
  std::string last_events_;

  int64_t runs_ = 0, events_ = 0;
  std::vector<int64_t> times_taken_;  // by exit
  int last_exit_ = 0;
  Patience patience_;
  Trial trial_;
  SecondTry second_try_;
};

}  // namespace accel
