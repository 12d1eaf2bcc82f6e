#pragma once
// What accel knows about a compiled function, as plain Python data.

#include "bind/convert.h"
#include "dispatch/versions/dispatcher.h"

namespace accel {

py::dict counters_record(const Dispatcher& dispatcher);

// Everything accel.explain shows. Texts of graphs are made here, not when a version is compiled.
py::dict function_record(const Dispatcher& dispatcher);

}  // namespace accel
