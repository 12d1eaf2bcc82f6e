#pragma once
// Calls that fail because a test says so, and how often each function was called.

#include <string>

namespace emulated {

// Counts a call; the result with which it is to fail, or 0.
int enter(const char* function);
void fail_call(const std::string& function, long nth, int code, bool is_sticky);
void fail_no_calls();
long calls_of(const std::string& function);
// Reads ACCEL_EMULATE: options "name=value" and failures "fail:function:nth:code:sticky", separated by commas.
void read_environment();

}  // namespace emulated
