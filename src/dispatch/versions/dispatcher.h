#pragma once
// Dispatcher: decides for each call of one function which compiled version runs it, if any, and when to compile another one.
// Requires the GIL. Whatever goes wrong inside accel, the call gets the result of the original function.

#include <Python.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cpython/function.h"
#include "dispatch/versions/last_call.h"
#include "dispatch/versions/slow_compile.h"
#include "dispatch/versions/version_list.h"

namespace accel {

struct DispatchOptions {
  bool fullgraph = false;
  bool disable = false;
  bool fixed_sizes = false;  // a version serves one size of each array
  PyRef backend;             // null: native; else called as PythonKernel says
  std::string backend_name = "native";
};

struct Counters {
  int64_t calls = 0;
  int64_t compiled = 0;     // calls that compiled code answered, in whole or up to a side exit
  int64_t interpreted = 0;  // calls that ran in the interpreter from the start
  int64_t side_exits = 0;   // calls that left compiled code before its end
  int64_t recompiles = 0;   // versions after the first
  int64_t cache_hits = 0;   // kernels that came from the disk cache
};

// Something that happened to the function, for accel.explain: once per reason and place.
struct Event {
  Fallback what;
  int64_t count = 1;
};

class Dispatcher {
 public:
  Dispatcher(PyObject* function, DispatchOptions options);  // function: borrowed, outlives this
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // The vectorcall of the function. New reference or null with an exception.
  PyObject* call(PyObject* const* args, size_t nargsf, PyObject* names);

  // Forgets every version and what was found out about the function and its code.
  void reset();

  const DispatchOptions& options() const { return options_; }
  const Counters& counters() const { return counters_; }
  const VersionList& versions() const { return versions_; }
  const std::vector<Event>& events() const { return events_; }
  // Index of the version that the last call ran, -1: none.
  int last_version() const { return last_version_; }
  const std::optional<Fallback>& pinned() const { return pinned_; }
  // How the last call was answered, and why not by compiled code as a whole.
  const LastCall& last_call() const { return last_call_; }
  std::optional<Fallback> last_fallback() const;

  int traverse(visitproc visit, void* arg) const;

 private:
  int traverse_dropped(const LastCall& call, visitproc visit, void* arg) const;
  struct Arguments {
    PyObject* const* args;
    size_t nargsf;
    PyObject* names;
  };
  enum class Answer : uint8_t {
    result,
    interpret,
    trial,  // the same, and on_trial_ wants to know how long it takes
    none,   // no version fits
  };

  PyObject* call_here(const Arguments& arguments);
  PyObject* call_on_further_stack(const Arguments& arguments);
  PyObject* interpret(const Arguments& arguments);
  PyObject* interpret_as(const Arguments& arguments, Reason reason);
  PyObject* interpret_on_trial(const Arguments& arguments);
  PyObject* interpret_because(const Arguments& arguments, Fallback why);
  PyObject* bind_and_run(const Arguments& arguments);
  PyObject* run(const Arguments& arguments, PyObject* const* locals);
  bool verify(const Arguments& arguments, PyObject* const* locals, PyObject** result);
  Answer try_versions(PyObject* const* locals, PyObject** result);
  Answer try_versions_that(bool are_full, PyObject* const* locals, PyObject** result);
  Answer try_version(size_t index, PyObject* const* locals, PyObject** result);
  Answer answer_of(Outcome outcome, const EntryHold& entry, int64_t generation, PyObject** result);
  void record(LastCall call);
  void note_whole(const EntryHold& entry);
  void after_leaving(Entry& entry, int64_t generation, PyObject** result);
  void learn(Entry& entry);
  void drop_version(const Entry& entry);
  Answer after_events(Entry& entry);
  Answer after_giving_up(Entry& entry);
  Answer refuse(const Entry& entry);
  Answer refuse(Fallback why);
  bool must_be_full() const;
  bool refuses_fallbacks() const;
  void start_over();

  enum class Added : uint8_t { yes, no, raised, interrupted };
  // Makes one more version for this call and publishes it.
  Added add_version(PyObject* const* locals);
  Result<Captured> capture_call(PyObject* const* locals);
  Added may_add_version(PyObject* const* locals);
  Status build(Entry& entry, PyObject* const* locals);
  Status build_or_leave(Entry& entry, PyObject* const* locals, SlowCompile& time);
  bool compile_again(Entry& entry, PyObject* const* locals);
  void publish(std::unique_ptr<Entry> entry);
  void note_exits(const Entry& entry);
  bool report_failure(const Failure& failure);
  void pin(Fallback why);
  void note(const Fallback& what);
  void note_once(Reason reason);
  void forget_if_redefined();
  PyCodeObject* code() const { return reinterpret_cast<PyCodeObject*>(code_.get()); }
  PyObject* function() const { return reinterpret_cast<PyObject*>(function_); }
  std::string name() const;
  std::string name_and_place() const;
  Fallback at_start(Reason reason, std::string detail) const;

  PyFunctionObject* function_;
  PyRef code_;  // entries are about this code
  DispatchOptions options_;
  int argument_count_ = 0;
  int local_count_ = 0;
  bool plain_signature_ = false;  // no *args, **kwargs, keyword-only arguments

  VersionList versions_;
  size_t hot_ = 0;  // the version that answered last
  int last_version_ = -1;
  std::optional<EntryHold> on_trial_;
  LastCall last_call_;
  LastCall next_call_;              // how the call that the interpreter is about to run will be recorded
  int64_t generation_ = 0;          // counts resets
  int64_t compiling_process_ = 0;   // the process in which some thread compiles a version, 0: none
  std::optional<Fallback> pinned_;  // every call goes to the interpreter
  Counters counters_;
  std::vector<Event> events_;
  std::map<std::string, SeenResult> seen_results_;  // of calls that the process makes, by place
  std::set<Reason> learned_;                        // what versions have to handle both ways: calls met either
  std::set<int> warned_;                            // reasons
  uint64_t noted_once_ = 0;                         // bits of reasons
};

}  // namespace accel
