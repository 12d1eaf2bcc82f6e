#pragma once
// PythonCalls: the calls of one run that may do anything (PythonCall). Each is made under frames as the interpreter would have
// them, and is a point that the run can go back to: what fails later goes on in the interpreter from there. Requires the GIL.

#include <Python.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/product/captured.h"
#include "cpython/frames/frame.h"
#include "dispatch/events/errstate.h"
#include "dispatch/exits/materialiser.h"
#include "dispatch/exits/outputs.h"

namespace accel {

// What one call of the table needs at run time.
struct PythonCallPlan {
  OutputPlan operands;
  Materialiser materialiser;
};
// By number; null for other calls.
std::vector<std::unique_ptr<PythonCallPlan>> python_call_plans(const Captured& captured);

// A run of an entry as it was checked at its start. Everything outlives the run.
struct CheckedRun {
  const Captured* captured = nullptr;
  const std::vector<std::unique_ptr<PythonCallPlan>>* plans = nullptr;
  PyObject* function = nullptr;
  PyObject* const* locals = nullptr;
  Binding binding;
};

// Adds what is to be stored, and what was there before the first store to the same place. `objects`: by recipe.
void note_replaced(const std::vector<StoreRecipe>& stores, PyObject* const* objects, std::vector<Replaced>& replaced);
// Sets what was there before. Keeps the current exception.
void put_back(const std::vector<Replaced>& replaced);

// Whether the guards hold now as they did then: for the same objects, sizes, memory and numbers. `replaced`: what the run
// itself has set, null for nothing.
bool holds_as_checked(const CheckedRun& run, const std::vector<Replaced>* replaced);

// An operand of a call: memory, with dims and strides (bytes) of an array; or an array or number.
struct CallOperandValue {
  const void* memory = nullptr;
  const int64_t* dims = nullptr;
  const int64_t* strides = nullptr;
  PyObject* object = nullptr;
};

// Objects that a run knows by number. Borrowed.
using NamedObjects = std::vector<std::pair<int64_t, PyObject*>>;

class PythonCalls {
 public:
  explicit PythonCalls(const CheckedRun& run);
  PythonCalls(const PythonCalls&) = delete;
  PythonCalls& operator=(const PythonCalls&) = delete;
  ~PythonCalls();

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
  bool has_left() const { return left_; }
  // How many calls have been made.
  int64_t count() const { return count_; }
  // What the function returned, or null with an exception, after a call that left.
  PyObject* take_answer();
  // Goes on in the interpreter behind the last call that was done; raises the current exception there when `raise` is set.
  PyObject* go_back(bool raise);
  // What calls have been shown, as long as the run may name it.
  const ShownObjects& shown() const { return shown_; }
  // Gives up all references: frames that go on have their own.
  void release();
  // The last call that was made, and why it left.
  int last() const { return last_; }
  Reason reason() const { return reason_; }
  const std::string& detail() const { return detail_; }
  // What the last call gave, when it was not what capture has assumed.
  const std::optional<SeenResult>& unknown_result() const { return unknown_; }

 private:
  static AfterCall act(void* self, PyObject** result);
  static void release_all(void* self);
  AfterCall make(PyObject** result);
  bool make_operands(const PythonCallPlan& plan, const std::vector<CallOperandValue>& operands, Outputs& outputs);
  bool still_holds();
  bool make_stores();
  bool are_stores_there() const;
  struct Look;
  // What a call works with beside what the frames have.
  struct Given {
    PyRef callable;
    std::vector<PyRef> arguments, stored;
  };
  Given give();
  AfterCall judge(PyObject* result, const std::vector<Look>& looks);
  bool is_as_assumed(PyObject* result);
  PyObject* candidate(int number) const;
  AfterCall leave(Reason reason, std::string detail);
  void take_results(PyObject* result);
  void hold_sources();
  void keep_alone();
  void keep_results();
  void forget();
  void release_objects();

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
  bool left_ = false;
  PyObject* answer_ = nullptr;
  PyObject* exception_[3] = {};  // type, value, traceback
  Reason reason_ = Reason::assumption_failed;
  std::string detail_;
  std::optional<SeenResult> unknown_;

  // Of the call that is being made.
  const BoxedCall* call_ = nullptr;
  const PythonCallPlan* plan_ = nullptr;
  const FramedCall* framed_ = nullptr;
  std::vector<PyObject*> objects_;  // owned
  std::vector<PyObject*> seen_;     // objects_ as they were, borrowed: owned by the frames, the arguments or kept_
  NamedObjects named_;              // those of seen_ that the run knows by number
  std::vector<PyRef> kept_;         // objects of seen_ that have no other owner
};

}  // namespace accel
