#pragma once
// Calls of Python's and NumPy's functions at capture, which must have no visible effect: what would warn raises instead.

#include "cpython/py_ref.h"

namespace accel {

// While it lives warnings are raised as exceptions. The filters are set aside: what Python knows to have shown stays known.
class WarningsAsErrors {
 public:
  WarningsAsErrors();
  ~WarningsAsErrors();  // keeps the exception that is set
  WarningsAsErrors(const WarningsAsErrors&) = delete;
  WarningsAsErrors& operator=(const WarningsAsErrors&) = delete;

 private:
  PyRef module_, filters_;
};

// While it lives floating-point events in NumPy raise FloatingPointError, whatever numpy.errstate the caller has set.
class EventsAsErrors {
 public:
  EventsAsErrors();
  ~EventsAsErrors();  // keeps the exception that is set
  EventsAsErrors(const EventsAsErrors&) = delete;
  EventsAsErrors& operator=(const EventsAsErrors&) = delete;
  explicit operator bool() const { return static_cast<bool>(entered_); }

 private:
  PyRef manager_, entered_;
};

}  // namespace accel
