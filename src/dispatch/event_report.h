#pragma once
// NumPy's warnings of floating-point events, given after compiled code has run to its end.

#include <Python.h>

#include <optional>

#include "ir/graph.h"

namespace accel {

// The only operation of a graph that may have events, when the hardware's flags after a run are those that NumPy's loop would
// have left: an operation of arrays, run at most once, next to which nothing touches the flags.
struct EventSite {
  Op op = Op::add;
  int line = 0;
};
std::optional<EventSite> lone_event_site(const Graph& graph);

// Whether a RuntimeWarning given now is shown, recorded or dropped, as opposed to raised or handed to code of the user's.
bool warnings_are_harmless();

// Gives the warnings of `events` (bits of AccelStatus) as the ufunc does when `function` calls it from `code`. False with an
// exception set.
bool report_events(const EventSite& site, PyObject* function, PyCodeObject* code, int events);

}  // namespace accel
