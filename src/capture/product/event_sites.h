#pragma once
// Event sites: operations of captured code whose floating-point events NumPy would report in warnings. Product of capture.

#include <Python.h>

#include <string>
#include <vector>

#include "cpython/py_ref.h"

namespace accel {

// numpy.errstate as the captured code has set it: event bits that it ignores, bits that it does not ignore, and which of the
// latter warn. Bits in no set follow the caller's setting.
struct Errstate {
  int ignored = 0, reported = 0, warned = 0;
  bool operator==(const Errstate&) const = default;
};

// The source location that a warning issued now would point to.
struct EventPlace {
  PyRef code, globals;  // null: unknown
  int line = 0;
};

struct EventSite {
  std::string name;  // what NumPy's warning calls the operation; empty: unknown, and `place` is unset
  EventPlace place;
  Errstate errstate;
  bool is_placed() const { return !name.empty(); }
};

// State of the event recorder, saved when an instruction makes a call that capture walks, and restored after the call.
struct EventState {
  EventPlace place;
  int open_calls = 0;
  int site = -1;
};

class Capture;

// One operation of captured code that may have events: nodes made during its lifetime belong to a site of this name. When
// several are nested, the outermost one names the site.
class EventCall {
 public:
  // Empty: the name that NumPy would use is unknown.
  EventCall(Capture& capture, std::string name);
  ~EventCall();
  EventCall(const EventCall&) = delete;
  EventCall& operator=(const EventCall&) = delete;

 private:
  Capture& capture_;
};

// Conversion of a Python number to an operand inside an EventCall. Nodes made during its lifetime get a site of their own
// before the call's, because NumPy attributes their events to a cast.
class OperandCast {
 public:
  explicit OperandCast(Capture& capture);
  ~OperandCast();
  OperandCast(const OperandCast&) = delete;
  OperandCast& operator=(const OperandCast&) = delete;

 private:
  Capture& capture_;
  int outer_;
};

}  // namespace accel
