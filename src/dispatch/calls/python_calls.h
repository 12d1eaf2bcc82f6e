#pragma once
// PythonCalls: the calls of one run that may do anything (PythonCall). Each is made under frames as the interpreter would have
// them, and is a point that the run can go back to: what fails later goes on in the interpreter from there. Requires the GIL.

#include <Python.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "capture/product/captured.h"
#include "cpython/frames/frame.h"
#include "dispatch/calls/call_objects.h"
#include "dispatch/calls/checked_run.h"
#include "dispatch/calls/replaced_values.h"
#include "dispatch/events/errstate.h"
#include "dispatch/exits/materialiser.h"

namespace accel {

// How a call ended after which the run does not go on: why, and what the function returned or raised then.
class LeftCall {
 public:
  LeftCall() = default;
  ~LeftCall();
  LeftCall(const LeftCall&) = delete;
  LeftCall& operator=(const LeftCall&) = delete;

  void because(Reason reason, std::string detail) {
    reason_ = reason;
    detail_ = std::move(detail);
  }
  void give(SeenResult result) { unknown_result_ = std::move(result); }
  // The frames have run to their end. `answer`: stolen; null with the current exception, which is taken.
  void end(PyObject* answer);

  bool has_ended() const { return has_ended_; }
  // What the function returned, or null with an exception set. Once.
  PyObject* take_answer();
  Reason reason() const { return reason_; }
  const std::string& detail() const { return detail_; }
  // What the call gave, when it was not what capture has assumed.
  const std::optional<SeenResult>& unknown_result() const { return unknown_result_; }

 private:
  bool has_ended_ = false;
  PyObject* answer_ = nullptr;
  PyObject* exception_[3] = {};  // type, value, traceback
  Reason reason_ = Reason::assumption_failed;
  std::string detail_;
  std::optional<SeenResult> unknown_result_;
};

class PythonCalls {
 public:
  explicit PythonCalls(const CheckedRun& run);
  PythonCalls(const PythonCalls&) = delete;
  PythonCalls& operator=(const PythonCalls&) = delete;

  enum class Made : uint8_t {
    failed,  // the call has not been made; an exception is set
    left,    // the frames have gone on without compiled code, to their end
    done,    // results() are what the op gives
  };
  Made call(int number, const std::vector<CallOperandValue>& operands);
  // Of the last call that was done: changed arrays, then what it returned if that was asked for.
  const std::vector<PyRef>& results() const { return results_; }

  // Whether a call has been made.
  bool has_begun() const { return last_ >= 0; }
  bool has_left() const { return left_.has_ended(); }
  // How many calls have been made.
  int64_t count() const { return count_; }
  // Goes on in the interpreter behind the last call that was done; raises the current exception there when `raise` is set.
  PyObject* go_back(bool raise);
  // What calls have been shown, as long as the run may name it.
  const ShownObjects& shown() const { return shown_; }
  // Gives up all references: frames that go on have their own.
  void release();
  // The last call that was made, and how it left.
  int last() const { return last_; }
  LeftCall& left() { return left_; }

 private:
  static AfterCall act(void* self, PyObject** result);
  static void release_all(void* self);
  AfterCall make(PyObject** result);
  AfterCall raise_in_frame(std::string detail);
  AfterCall leave(std::string detail);
  struct ObjectState;
  AfterCall judge(PyObject* result, const std::vector<ObjectState>& before);
  bool is_as_assumed(PyObject* result);
  void note_unknown(PyObject* result);
  bool still_holds();
  void take_results(PyObject* result);
  void hold_sources();
  void release_held();
  void forget();

  CheckedRun run_;
  std::vector<PyRef> held_;  // the objects at the sources
  EventModes modes_;
  std::vector<Replaced> replaced_;  // by stores before calls
  std::vector<FrameState> frames_;  // behind the last call that was done
  std::vector<PyRef> results_;
  ShownObjects shown_;
  int64_t next_shown_ = 0;
  int last_ = -1;
  int64_t count_ = 0;
  LeftCall left_;

  // Of the call that is being made.
  CallObjects objects_;
  const FramedCall* framed_ = nullptr;
};

}  // namespace accel
