#pragma once
// accel's own exceptions, warnings and log records. Their classes live in accel.errors and accel.logging.

#include <Python.h>

#include <string>

#include "base/reasons.h"
#include "base/settings.h"

namespace accel {

// Sets an exception of the class `name` of accel.errors.
void raise_error(const char* name, const std::string& message);

// Where and why code was left to the interpreter.
struct Fallback {
  Reason reason = Reason::internal_error;
  std::string detail;
  std::string file;
  int line = 0;
};

// Sets an UnsupportedError that names the reason, the place and the way out.
void raise_unsupported(const std::string& function, const Fallback& fallback);

// Issues an AccelWarning at the caller's line. False when a warning filter turned it into an exception.
[[nodiscard]] bool warn(const std::string& message);

// Logs a record on the logger of a topic, if that is enabled. Keeps a pending exception.
void log_record(LogTopic topic, const std::string& text);

// Tells a waiting user that a compile takes long (accel.logging decides how). Keeps a pending exception.
void say_slow(const std::string& text);

// A reason as text: "no_compiler: no C++ compiler was found: detail. Way out: ...".
std::string describe(Reason reason, const std::string& detail);

// Clears the pending exception and returns it as one line ("ValueError: ...").
std::string take_exception_text();

}  // namespace accel
