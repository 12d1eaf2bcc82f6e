#pragma once
// The numpy.errstate of the calling context.

#include <Python.h>

#include "cpython/py_ref.h"

namespace accel {

// Floating-point events (bits of AccelStatus).
struct EventModes {
  int ignored = 0;   // NumPy ignores these
  int warned = 0;    // NumPy warns of these
  int acted_on = 0;  // NumPy raises, prints or calls a function for these
  bool operator==(const EventModes&) const = default;
};
EventModes event_modes();

// During its lifetime ufuncs ignore `ignored` events and raise for all others.
class RaisingErrstate {
 public:
  explicit RaisingErrstate(int ignored);
  ~RaisingErrstate();
  RaisingErrstate(const RaisingErrstate&) = delete;
  RaisingErrstate& operator=(const RaisingErrstate&) = delete;
  // False with an exception when NumPy's settings could not be changed.
  bool is_set() const { return static_cast<bool>(token_); }

 private:
  PyRef token_;
};

}  // namespace accel
