#pragma once
// Calls of Python's and NumPy's functions at capture must have no visible effect: while these objects live, a warning raises.

#include "cpython/py_ref.h"

namespace accel {

// During its lifetime, warnings raise exceptions. Replaces the list of filters, so that Python's registry of shown warnings is
// unchanged.
class WarningsAsErrors {
 public:
  WarningsAsErrors();
  ~WarningsAsErrors();  // preserves the current exception
  WarningsAsErrors(const WarningsAsErrors&) = delete;
  WarningsAsErrors& operator=(const WarningsAsErrors&) = delete;

 private:
  PyRef module_, filters_;
};

// During its lifetime, floating-point events in NumPy raise FloatingPointError, whatever numpy.errstate the caller has set.
class EventsAsErrors {
 public:
  EventsAsErrors();
  ~EventsAsErrors();  // preserves the current exception
  EventsAsErrors(const EventsAsErrors&) = delete;
  EventsAsErrors& operator=(const EventsAsErrors&) = delete;
  explicit operator bool() const { return static_cast<bool>(entered_); }

 private:
  PyRef manager_, entered_;
};

}  // namespace accel
