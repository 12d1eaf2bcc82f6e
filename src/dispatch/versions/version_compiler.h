#pragma once
// VersionCompiler: makes the versions of one function: capture, compile, and what runs have taught for the next version.
// Requires the GIL, which it releases while it compiles.

#include <Python.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "dispatch/entries/entry.h"
#include "dispatch/versions/device_choice.h"
#include "dispatch/versions/dispatch_options.h"
#include "dispatch/versions/slow_compile.h"
#include "dispatch/versions/wrapped_function.h"

namespace accel {

// Marks this process as compiling during its lifetime. Stores the process id, so that a child of fork() does not wait for a
// thread that it does not have.
class CompilingMark {
 public:
  explicit CompilingMark(int64_t& process);
  ~CompilingMark() { process_ = 0; }
  CompilingMark(const CompilingMark&) = delete;
  CompilingMark& operator=(const CompilingMark&) = delete;

 private:
  int64_t& process_;
};

class VersionCompiler {
 public:
  VersionCompiler(const WrappedFunction& function, const DispatchOptions& options)  // the arguments outlive this
      : function_(function), options_(options) {}
  VersionCompiler(const VersionCompiler&) = delete;
  VersionCompiler& operator=(const VersionCompiler&) = delete;

  // Whether a thread of this process is making a version.
  bool is_compiling() const;
  // To be held while a version is made and published.
  [[nodiscard]] CompilingMark mark() { return CompilingMark(compiling_process_); }

  struct Made {
    std::unique_ptr<Entry> entry;    // null: another thread has changed the function's code meanwhile
    std::optional<Failure> failure;  // of the compile: the entry then leaves its calls to the interpreter
  };
  // Makes a version for a call with these locals and the chosen device, in addition to `versions` others. Fails when the call
  // cannot be captured. Reason::interrupted: an exception is set.
  Result<Made> make(PyObject* const* locals, size_t versions, int device);
  // Makes the entry's second try of a compile.
  Status compile_again(Entry& entry, PyObject* const* locals);

  // Learns from the entry's last run about failed assumptions; returns whether the next version will be better.
  bool learn(Entry& entry);
  // Drops all that was learned.
  void clear();

 private:
  CaptureOptions capture_options() const;
  Result<Captured> capture_call(PyObject* const* locals, size_t versions);
  // What a version is made for.
  struct Wanted {
    int choice = on_cpu;            // the chosen device of calls that may use it
    int device = on_cpu;            // where it runs, unless an argument is on a device
    bool copies_to_host = false;    // it runs on the CPU, with copies of the arguments that are on a device
    std::string why_not_on_device;  // for explain
  };
  Result<Made> make_for(PyObject* const* locals, size_t versions, const Wanted& wanted, SlowCompile& time);
  Status build(Entry& entry, PyObject* const* locals);
  Status build_or_leave(Entry& entry, PyObject* const* locals, SlowCompile& time);

  const WrappedFunction& function_;
  const DispatchOptions& options_;
  int64_t compiling_process_ = 0;                   // id of the process in which a thread compiles a version, 0: none
  std::map<std::string, SeenResult> seen_results_;  // results of calls of unknown code, by place in the source
  std::set<Reason> learned_;                        // failed assumptions: further versions handle both cases
};

}  // namespace accel
