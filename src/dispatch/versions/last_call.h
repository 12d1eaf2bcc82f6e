#pragma once
// How a call of a compiled function was answered, for accel.explain. Requires the GIL.

#include <cstdint>
#include <optional>

#include "dispatch/versions/version_list.h"

namespace accel {

enum class Answered : uint8_t {
  not_yet,      // no call has ended
  whole,        // compiled code ran to the end of the function
  left,         // compiled code ran up to an exit, the interpreter from there on
  interpreted,  // the interpreter ran the call from its start
  raised,       // accel ended the call with an exception
};

const char* answered_name(Answered how);

// Cheap to set: the place and the text of the reason are made when someone asks (Dispatcher::last_fallback).
struct LastCall {
  Answered how = Answered::not_yet;
  std::optional<EntryHold> entry;    // the version that ran, or that leaves the call to the interpreter
  int exit = -1;                     // that was taken, when compiled code was left
  std::optional<Reason> reason;      // of a call that no version was asked for
  std::optional<Fallback> fallback;  // reason and place, where they are known already
};

}  // namespace accel
