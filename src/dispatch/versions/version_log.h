#pragma once
// Logs a new version: its guards, passes, steps of the schedule, source, and where its kernel came from.

#include <string>

#include "dispatch/entries/entry.h"

namespace accel {

void log_version(const std::string& function, const Entry& entry);

}  // namespace accel
