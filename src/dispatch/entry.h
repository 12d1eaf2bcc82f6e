#pragma once
// Entry: one compiled version of a function: what it assumed, its kernel, and how to make Python objects of the kernel's
// results. Immutable once published, but for its counters. Every function here requires the GIL.

#include <Python.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/captured.h"
#include "compile.h"
#include "dispatch/materialiser.h"
#include "dispatch/outputs.h"
#include "dispatch/python_errors.h"
#include "dispatch/python_kernel.h"
#include "dispatch/work.h"
#include "ndarray/loops.h"

namespace accel {

enum class Outcome : uint8_t {
  no_match,     // a guard does not hold
  returned,     // *result is the function's result
  resumed,      // the interpreter finished the call from the exit on: *result is its result or null with an exception
  interpret,    // the entry says that the interpreter runs this call
  events,       // a floating-point event needs NumPy's warning: nothing visible has happened, the interpreter runs the call
  gave_up,      // something else kept the kernel from finishing: likewise
  interrupted,  // an exception is set: the call ends with it
};

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
  // From now on the entry only says that the interpreter runs calls like these.
  void leave_to_interpreter(Reason reason, std::string detail);

  Outcome run(PyObject* function, PyObject* const* locals, PyObject** result);

  // Whether every call ends in a return, or in an error or a failed check, so that nothing else is left to the interpreter.
  bool is_full() const { return partial_exit_ == nullptr && ready_; }
  // The first exit through which calls leave for the interpreter in the ordinary course of things; null: none.
  const Exit* partial_exit() const { return partial_exit_; }
  bool is_ready() const { return ready_; }
  Fallback fallback() const;
  const Captured& captured() const { return captured_; }
  const Compilation* compilation() const { return compilation_.get(); }
  // Nothing but the place decides: no guard looks at an argument.
  bool fits_every_call() const;

  int64_t runs() const { return runs_; }
  int64_t event_count() const { return events_; }
  // Why the last call gave up.
  const Failure& last_problem() const { return problem_; }

  int traverse(visitproc visit, void* arg) const;

 private:
  struct Call;
  Outcome launch(Call& call, PyObject** result);
  Outcome finish(Call& call, PyObject** result);
  Outcome judge(int status);
  int run_kernel(Call& call);
  int run_native(Call& call);
  void take_references(Call& call, bool take) const;
  bool skip_this_call();
  size_t words() const;

  Captured captured_;
  OutputPlan plan_;
  const Exit* partial_exit_ = nullptr;
  Materialiser materialiser_;
  WorkEstimate work_;
  std::unique_ptr<Compilation> compilation_;
  std::vector<ResolvedLoop> loops_;
  std::vector<AccelImport> imports_;
  std::unique_ptr<PythonKernel> python_kernel_;
  std::vector<SourceId> array_sources_;
  bool ready_ = false;
  Reason left_reason_ = Reason::not_profitable;
  std::string left_detail_;
  Failure problem_;

  int64_t runs_ = 0, events_ = 0;
  int event_streak_ = 0;  // calls in a row that an event spoilt
  int64_t calls_to_skip_ = 0;
};

}  // namespace accel
