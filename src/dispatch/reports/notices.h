#pragma once
// Notices of the toolchain (an unusable cache, ...), which come without the GIL, on their way to Python warnings.

#include <string>

#include "base/reasons.h"

namespace accel {

// Keeps a notice. From any thread, without the GIL.
void keep_notice(Reason reason, std::string detail);

// Issues an AccelWarning for each notice kept so far. False when the warning filters made one an exception. Requires the GIL.
[[nodiscard]] bool report_notices();

}  // namespace accel
