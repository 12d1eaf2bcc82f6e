#pragma once
// Warnings to the user from below the Python side: each kind once per process.

#include <functional>
#include <string>
#include <string_view>

#include "base/reasons.h"

namespace accel {

using WarningSink = std::function<void(Reason, std::string detail)>;

// Installs the receiver and hands it what was reported so far. It is called from any thread, without locks of accel and
// without the GIL (the caller of the toolchain has released it). An empty function uninstalls it.
void set_warning_sink(WarningSink sink);

// Reports once per (reason, kind).
void warn_once(Reason reason, std::string_view kind, std::string detail);

// Forgets what was reported, for tests.
void reset_warnings();

}  // namespace accel
