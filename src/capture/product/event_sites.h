#pragma once
// Event sites: the calls of captured code that may have floating-point events, as NumPy's warnings name them. Product of
// capture.

#include <Python.h>

#include <string>
#include <vector>

#include "cpython/py_ref.h"

namespace accel {

// numpy.errstate as the captured code has set it: the events (EventBits) that it ignores, that it does not, and among the
// latter those of which it warns. The others are the caller's business.
struct Errstate {
  int ignored = 0, reported = 0, warned = 0;
  bool operator==(const Errstate&) const = default;
};

// The Python frame that a warning given now would point to.
struct EventPlace {
  PyRef code, globals;  // null: not known
  int line = 0;
};

struct EventSite {
  std::string name;  // what NumPy's text calls the operation; empty: not known, nor is the place
  EventPlace place;
  Errstate errstate;
  bool is_placed() const { return !name.empty(); }
};

// What capture goes back to when a call that it made in the middle of an instruction has ended.
struct EventState {
  EventPlace place;
  int open_calls = 0;
  int site = -1;
};

class Capture;

// One call of captured code that may have events: the nodes that are made while it lives belong to a site of this name. Of
// nested ones the outermost counts.
class EventCall {
 public:
  // An empty name: nobody knows what NumPy would say.
  EventCall(Capture& capture, std::string name);
  ~EventCall();
  EventCall(const EventCall&) = delete;
  EventCall& operator=(const EventCall&) = delete;

 private:
  Capture& capture_;
};

// Within such a call: a Python number becomes an operand. The nodes that are made while it lives have a site of their own
// before the call's, since NumPy says of their events that they were a cast's.
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
