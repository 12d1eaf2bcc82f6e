#pragma once
// Reason codes: why something was not compiled, or was compiled again. The table is reasons.inc.

namespace accel {

enum class Reason {
#define REASON(code, what, way_out) code,
#include "base/reasons.inc"
#undef REASON
};

struct ReasonInfo {
  const char* code;
  const char* what;
  const char* way_out;
};

const ReasonInfo& reason_info(Reason reason);
// Whether a version that a call has left for this reason is followed by one that handles both cases.
bool is_learned(Reason reason);
// Whether NumPy or Python raises or warns there.
bool raises_or_warns(Reason reason);
// Whether a path to an exit for this reason is an exceptional one: only calls that raise, warn, outgrow int64 or are
// interrupted take it.
bool ends_exceptionally(Reason reason);
int reason_count();

}  // namespace accel
