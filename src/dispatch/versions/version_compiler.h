#pragma once
// VersionCompiler: makes the versions of one function: capture, compile, and what calls have shown that the next version has to
// know. Requires the GIL, which it releases while it compiles.

#include <Python.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "dispatch/entries/entry.h"
#include "dispatch/versions/dispatch_options.h"
#include "dispatch/versions/slow_compile.h"
#include "dispatch/versions/wrapped_function.h"

namespace accel {

// Marks the process that compiles for as long as it lives. A child of fork() does not wait for a thread that it does not have.
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
  VersionCompiler(const WrappedFunction& function, const DispatchOptions& options)  // outlive this
      : function_(function), options_(options) {}
  VersionCompiler(const VersionCompiler&) = delete;
  VersionCompiler& operator=(const VersionCompiler&) = delete;

  // Whether some thread of this process makes a version.
  bool is_compiling() const;
  // Held while a version is made and published.
  [[nodiscard]] CompilingMark mark() { return CompilingMark(compiling_process_); }

  struct Made {
    std::unique_ptr<Entry> entry;    // null: another thread has given the function other code meanwhile
    std::optional<Failure> failure;  // of the compile: the entry leaves its calls to the interpreter
  };
  // A version for a call with these locals, beside `versions` others. Fails where the call cannot be captured.
  // Reason::interrupted: an exception is set.
  Result<Made> make(PyObject* const* locals, size_t versions);
  // Compiles the entry once more, in its second try.
  Status compile_again(Entry& entry, PyObject* const* locals);

  // Takes what the entry's last run has found out about its assumptions: whether the next version will be a better one.
  bool learn(Entry& entry);
  // Forgets what calls have shown.
  void clear();

 private:
  CaptureOptions capture_options() const;
  Result<Captured> capture_call(PyObject* const* locals, size_t versions);
  Status build(Entry& entry, PyObject* const* locals);
  Status build_or_leave(Entry& entry, PyObject* const* locals, SlowCompile& time);

  const WrappedFunction& function_;
  const DispatchOptions& options_;
  int64_t compiling_process_ = 0;                   // the process in which some thread compiles a version, 0: none
  std::map<std::string, SeenResult> seen_results_;  // of calls of unknown code, by place in the source
  std::set<Reason> learned_;                        // assumptions that failed: further versions handle both cases
};

}  // namespace accel
