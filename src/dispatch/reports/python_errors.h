#pragma once
// accel's own exceptions, warnings and log records. Their classes live in accel.errors and accel.logging.

#include <Python.h>

#include <string>

#include "base/reasons.h"
#include "base/settings.h"

namespace accel {

// Sets an exception of the class `name` of accel.errors.
void raise_error(const char* name, const std::string& message);

// Where and why something was left to the interpreter.
struct Fallback {
  Reason reason = Reason::internal_error;
  std::string detail;
  std::string file;
  int line = 0;
};

// Sets an UnsupportedError that names reason, place and way out.
void raise_unsupported(const std::string& function, const Fallback& fallback);

// An AccelWarning at the caller's line. False when the warning filters made it an exception.
[[nodiscard]] bool warn(const std::string& message);

// One record on the logger of the topic. Does nothing unless the topic is switched on; keeps a pending exception.
void log_record(LogTopic topic, const std::string& text);

// Tells a person who waits that a compile takes long (accel.logging says who does). Keeps a pending exception.
void say_slow(const std::string& text);

// "no_compiler: no C++ compiler was found: detail. Way out: ...".
std::string describe(Reason reason, const std::string& detail);

// Takes the pending exception as one line ("ValueError: ...") and clears it.
std::string take_exception_text();

}  // namespace accel
