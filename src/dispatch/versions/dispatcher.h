#pragma once
// Dispatcher: decides which compiled version of a function runs a call, if any, and when to compile another one. After any
// failure inside accel, the call gets the result of the original function. Requires the GIL.

#include <Python.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "dispatch/versions/dispatch_options.h"
#include "dispatch/versions/fallback_log.h"
#include "dispatch/versions/last_call.h"
#include "dispatch/versions/version_compiler.h"
#include "dispatch/versions/version_list.h"
#include "dispatch/versions/wrapped_function.h"

namespace accel {

struct Counters {
  int64_t calls = 0;
  int64_t compiled = 0;     // calls that compiled code answered, in whole or up to a side exit
  int64_t interpreted = 0;  // calls that ran in the interpreter from the start
  int64_t side_exits = 0;   // calls that left compiled code before its end
  int64_t recompiles = 0;   // versions after the first
  int64_t cache_hits = 0;   // kernels that came from the disk cache
};

class Dispatcher {
 public:
  Dispatcher(PyObject* function, DispatchOptions options);  // function: borrowed, outlives this
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // The vectorcall of the function. New reference or null with an exception.
  PyObject* call(PyObject* const* args, size_t nargsf, PyObject* names);

  // Drops every version and all that was learned about the function and its code.
  void reset();

  const DispatchOptions& options() const { return options_; }
  const Counters& counters() const { return counters_; }
  const VersionList& versions() const { return versions_.list(); }
  const std::vector<Event>& events() const { return log_.events(); }
  // The index of the version that the last call ran; -1: none.
  int last_version() const { return last_version_; }
  const std::optional<Fallback>& pinned() const { return pinned_; }
  // How the last call was answered, and why it was not by compiled code as a whole.
  const LastCall& last_call() const { return calls_.last(); }
  std::optional<Fallback> last_fallback() const;

  int traverse(visitproc visit, void* arg) const;

 private:
  struct Arguments {
    PyObject* const* args;
    size_t nargsf;
    PyObject* names;
    bool has_no_guests = false;  // GuestArguments has replaced them
  };
  enum class Answer : uint8_t {
    result,
    interpret,
    trial,  // interpret, and time it for on_trial_
    none,   // no version fits
  };

  PyObject* call_here(const Arguments& arguments);
  PyObject* call_counted(const Arguments& arguments);
  PyObject* interpret(const Arguments& arguments);
  PyObject* interpret_as(const Arguments& arguments, Reason reason);
  PyObject* interpret_on_trial(const Arguments& arguments);
  PyObject* interpret_because(const Arguments& arguments, Fallback why);
  PyObject* bind_and_run(const Arguments& arguments);
  PyObject* run(const Arguments& arguments, PyObject* const* locals);
  bool run_with_guests(const Arguments& arguments, PyObject** result);
  bool verify(const Arguments& arguments, PyObject* const* locals, PyObject** result);
  Answer try_versions(PyObject* const* locals, PyObject** result);
  Answer try_versions_that(bool are_full, PyObject* const* locals, PyObject** result);
  Answer try_version(size_t index, PyObject* const* locals, PyObject** result);
  Answer answer_of(Outcome outcome, const EntryHold& entry, int64_t generation, PyObject** result);
  void after_leaving(Entry& entry, int64_t generation, PyObject** result);
  Answer after_events(Entry& entry);
  Answer after_giving_up(Entry& entry);
  Answer refuse(const Entry& entry);
  Answer refuse(Fallback why);

  enum class Added : uint8_t { yes, no, raised, interrupted };
  Added add_version(PyObject* const* locals);
  Added may_add_version(PyObject* const* locals);
  Added failed_on_device(const Entry& entry, const Failure& failure);
  bool compile_again(Entry& entry, PyObject* const* locals);
  bool report(const std::optional<Failure>& failure);
  void publish(std::unique_ptr<Entry> entry);
  void learn(Entry& entry);
  void pin(Fallback why);
  void start_over();

  WrappedFunction function_;
  DispatchOptions options_;
  Versions versions_;
  int last_version_ = -1;
  int device_ = on_cpu;         // chosen for the call
  bool brings_guests_ = false;  // arguments have been arrays of other libraries
  std::optional<EntryHold> on_trial_;
  CallLog calls_;
  int64_t generation_ = 0;          // counts resets
  std::optional<Fallback> pinned_;  // every call goes to the interpreter
  Counters counters_;
  FallbackLog log_{function_};
  VersionCompiler compiler_{function_, options_};
};

}  // namespace accel
