#pragma once
// Runs a program, without a shell, with a limit of processor time (cpu_limit.h).

#include <string>
#include <vector>

namespace accel {

enum class ProcessEnd {
  exited,       // code is the exit status
  signaled,     // code is the signal
  timed_out,    // stopped at the limit, with all its children
  interrupted,  // stopped because is_interrupted()
  not_started,  // code is errno
  unknown,      // other code collected the exit status
};

struct ProcessResult {
  ProcessEnd end = ProcessEnd::not_started;
  int code = 0;
  std::string output;  // stdout and stderr, the first 64 KiB
};

// `command[0]` is a path. `changes` ("NAME=value") replace variables of this process's environment.
// Works from any thread; blocks; takes no lock.
ProcessResult run_process(const std::vector<std::string>& command, const std::vector<std::string>& changes, double timeout);

}  // namespace accel
