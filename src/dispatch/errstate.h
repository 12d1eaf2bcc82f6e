#pragma once
// numpy.errstate of the calling context.

namespace accel {

// The floating-point events (bits of AccelStatus) about which NumPy would stay silent now.
int ignored_events();

}  // namespace accel
