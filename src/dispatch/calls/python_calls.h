#pragma once
// PythonCalls: the calls of unknown code that one run makes. Each is made under frames as the interpreter would have them, and
// is a point to which the run can be rolled back: after a later failure the interpreter continues from there. Requires the GIL.

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

// How a call ended that also ended the run: the reason, and what the function then returned or raised.
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
  // Records that the frames have run to their end. `answer`: stolen; null with the current exception, which is taken.
  void end(PyObject* answer);

  bool has_ended() const { return has_ended_; }
  // What the function returned, or null with its exception set. May be called once.
  PyObject* take_answer();
  Reason reason() const { return reason_; }
  const std::string& detail() const { return detail_; }
  // The call's result, when it differs from what capture assumed.
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
    failed,  // the call was not made; an exception is set
    left,    // the interpreter has run the frames to their end
    done,    // results() has the results of the op
  };
  Made call(int number, const std::vector<CallOperandValue>& operands);
  // The results of the last call that was done: changed arrays, then the returned value if the op has it.
  const std::vector<PyRef>& results() const { return results_; }

  // Whether a call has been made.
  bool has_begun() const { return last_ >= 0; }
  bool has_left() const { return left_.has_ended(); }
  // How many calls have been made.
  int64_t count() const { return count_; }
  // Continues in the interpreter after the last call that was done; raises the current exception there when `raise` is set.
  PyObject* go_back(bool raise);
  // Objects that calls have seen, by handle, as long as the run may refer to them.
  const ShownObjects& shown() const { return shown_; }
  // Releases all references; frames have their own.
  void release();
  // The last call that was made, and how it ended the run.
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
  std::vector<PyRef> held_;  // the objects of the guards' sources
  EventModes modes_;
  std::vector<Replaced> replaced_;  // values that stores before calls have replaced
  std::vector<FrameState> frames_;  // after the last call that was done
  std::vector<PyRef> results_;
  ShownObjects shown_;
  int64_t next_shown_ = 0;
  int last_ = -1;
  int64_t count_ = 0;
  LeftCall left_;

  // Of the current call.
  CallObjects objects_;
  const FramedCall* framed_ = nullptr;
};

}  // namespace accel
