#pragma once
// How a call of a compiled function was answered, for accel.explain. Requires the GIL.

#include <Python.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "dispatch/versions/version_list.h"

namespace accel {

enum class Answered : uint8_t {
  not_yet,      // no call has ended
  whole,        // compiled code ran to the end of the function
  left,         // compiled code ran up to an exit, the interpreter from there
  interpreted,  // the interpreter ran the call from its start
  raised,       // accel ended the call with an exception
};

const char* answered_name(Answered how);

// A record that is cheap to make: place and text of the reason are made on demand (Dispatcher::last_fallback).
struct LastCall {
  Answered how = Answered::not_yet;
  std::optional<EntryHold> entry;    // the version that ran, or that leaves the call to the interpreter
  int exit = -1;                     // the exit taken, if any
  std::optional<Reason> reason;      // why no version was tried
  std::optional<Fallback> fallback;  // reason and place, if known already
};

// Records of the last call that has ended, and of one that the interpreter is about to run.
class CallLog {
 public:
  const LastCall& last() const { return last_; }
  // The previous record is destroyed last, as this may run Python code.
  void record(LastCall call) { std::swap(last_, call); }
  // Records that compiled code ran to the end of the function; cheap when the previous call did, too.
  void record_whole(const EntryHold& entry) {
    if (last_.how == Answered::whole && last_.entry && &**last_.entry == &*entry) return;
    record({Answered::whole, entry, -1, {}, {}});
  }

  // The record for the call that the interpreter is about to run.
  LastCall& next() { return next_; }
  LastCall take_next() { return std::exchange(next_, {}); }
  void forget_next() { next_ = {}; }
  // Prepares the record of a call that the entry leaves to the interpreter from its start.
  void expect_interpreted(const EntryHold& entry) { next_ = {Answered::interpreted, entry, -1, {}, {}}; }

  // Visits the entry of the last record unless it is in `versions`, whose owner visits it: each reference counts once.
  int traverse(const VersionList& versions, visitproc visit, void* arg) const;

 private:
  LastCall last_;
  LastCall next_;
};

}  // namespace accel
