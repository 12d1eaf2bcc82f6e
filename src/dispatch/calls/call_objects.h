#pragma once
// CallObjects: the objects of one call of unknown code: made from the recipes of its site, handed to the frames and the callee,
// and looked at again when the callee has returned. Requires the GIL.

#include <Python.h>

#include <utility>
#include <vector>

#include "capture/product/captured.h"
#include "cpython/frames/frame.h"
#include "dispatch/calls/checked_run.h"
#include "dispatch/exits/materialiser.h"
#include "dispatch/exits/outputs.h"

namespace accel {

// An operand of a call: memory, with dims and strides (bytes) of an array; or an array or number.
struct CallOperandValue {
  const void* memory = nullptr;
  const int64_t* dims = nullptr;
  const int64_t* strides = nullptr;
  PyObject* object = nullptr;
};

// Objects that a run knows by number. Borrowed.
using NamedObjects = std::vector<std::pair<int64_t, PyObject*>>;

// What a call works with beside what the frames have.
struct GivenObjects {
  PyRef callable;
  std::vector<PyRef> arguments, stored;
};

// Serves one call after the other, and reuses its memory.
class CallObjects {
 public:
  CallObjects() = default;
  CallObjects(const CallObjects&) = delete;
  CallObjects& operator=(const CallObjects&) = delete;

  // Makes the objects of a call; sets the symbols of `binding` that the call binds. False with an exception, and nothing made.
  // Both `call` and `plan` outlive the call.
  bool make(const BoxedCall& call, const PythonCallPlan& plan, const std::vector<CallOperandValue>& operands, Binding& binding,
            const ShownObjects& shown);
  // Gives them up where the call was not made.
  void release() { plan_->materialiser.release(made_.data()); }

  const BoxedCall& call() const { return *call_; }
  const PythonCall& site() const { return *call_->python; }
  // The frames that the call is made under, with references of their own.
  std::vector<FrameState> frames() const;
  // While the objects are owned here: by recipe.
  PyObject* const* made() const { return made_.data(); }

  // References for the callee and for the stores before the call.
  GivenObjects give();
  // From here on the frames alone have what they name, and the call has its arguments, as in the interpreter.
  void hand_over();

  // As the object was made, after hand_over(): borrowed.
  PyObject* seen(RecipeId id) const { return seen_[static_cast<size_t>(id)]; }
  // An object that the call may return; null when it has none of this number.
  PyObject* candidate(int number) const;
  // Those that the run knows by number.
  const NamedObjects& named() const { return named_; }
  // Whether the stores before the call are still in effect.
  bool are_stores_there() const;
  // Keeps what the op's results name: its only owner may be an argument, which is released when the call has been made.
  void keep_results();
  void forget_kept() { kept_.clear(); }

 private:
  bool fill_operands(const std::vector<CallOperandValue>& operands, Outputs& outputs) const;
  bool fill_array(int number, const CallOperandValue& given, Outputs& outputs) const;
  bool fill_number(int number, const CallOperandValue& given, Outputs& outputs) const;
  void find_named(const Outputs& outputs);
  void keep(PyObject* object);

  const BoxedCall* call_ = nullptr;
  const PythonCallPlan* plan_ = nullptr;
  std::vector<PyObject*> made_;  // owned
  std::vector<PyObject*> seen_;  // made_ as they were, borrowed: owned by the frames, the arguments or kept_
  NamedObjects named_;           // of seen_
  std::vector<PyRef> kept_;      // objects of seen_ that have no other owner
};

}  // namespace accel
