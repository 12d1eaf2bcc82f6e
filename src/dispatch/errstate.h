#pragma once
// numpy.errstate of the calling context.

namespace accel {

// Whether NumPy would stay silent about every floating-point event in `events` (bits of AccelStatus).
bool events_are_ignored(int events);

}  // namespace accel
