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

// What is recorded of calls of one function: of the last one that has ended, and of one that the interpreter is about to run.
class CallLog {
 public:
  const LastCall& last() const { return last_; }
  // The record before is destroyed last: that may run Python code.
  void record(LastCall call) { std::swap(last_, call); }
  // Compiled code ran to the end of the function. Most calls are answered as the one before.
  void record_whole(const EntryHold& entry) {
    if (last_.how == Answered::whole && last_.entry && &**last_.entry == &*entry) return;
    record({Answered::whole, entry, -1, {}, {}});
  }

  // How the call that the interpreter is about to run will be recorded.
  LastCall& next() { return next_; }
  LastCall take_next() { return std::exchange(next_, {}); }
  void forget_next() { next_ = {}; }
  // The interpreter will run the call from its start, on behalf of the entry.
  void expect_interpreted(const EntryHold& entry) { next_ = {Answered::interpreted, entry, -1, {}, {}}; }

  // Visits the entry of the last record unless it is among `versions`, whose owner visits it: each reference counts once.
  int traverse(const VersionList& versions, visitproc visit, void* arg) const;

 private:
  LastCall last_;
  LastCall next_;
};

}  // namespace accel
