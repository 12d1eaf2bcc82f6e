#pragma once
// Queue of notices of the toolchain (an unusable cache, ...), which come without the GIL and become Python warnings later.

#include <string>

#include "base/reasons.h"

namespace accel {

// Queues a notice. May be called from any thread, without the GIL.
void keep_notice(Reason reason, std::string detail);

// Issues an AccelWarning for each queued notice. False when a warning filter turned one into an exception. Requires the GIL.
[[nodiscard]] bool report_notices();

}  // namespace accel
