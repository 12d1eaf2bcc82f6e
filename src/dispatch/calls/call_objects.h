#pragma once
// CallObjects: the objects of one call of unknown code: made from the recipes of the call site, passed to the frames and the
// callee, and checked when the callee has returned. Requires the GIL.

#include <Python.h>

#include <utility>
#include <vector>

#include "capture/product/captured.h"
#include "cpython/frames/frame.h"
#include "dispatch/calls/checked_run.h"
#include "dispatch/exits/materialiser.h"
#include "dispatch/exits/outputs.h"

namespace accel {

// An operand of a call: memory with dims and strides (in bytes) of an array, or an object that is an array or number.
struct CallOperandValue {
  const void* memory = nullptr;
  const int64_t* dims = nullptr;
  const int64_t* strides = nullptr;
  PyObject* object = nullptr;
};

// Objects with their handles, the numbers by which the kernel refers to them. Borrowed.
using NamedObjects = std::vector<std::pair<int64_t, PyObject*>>;

// References for a call besides those of its frames.
struct GivenObjects {
  PyRef callable;
  std::vector<PyRef> arguments, stored;
};

// One instance serves all calls of a run, and reuses its memory.
class CallObjects {
 public:
  CallObjects() = default;
  CallObjects(const CallObjects&) = delete;
  CallObjects& operator=(const CallObjects&) = delete;

  // Makes the objects of a call, and sets the symbols of `binding` that the call site binds. False with an exception, and
  // nothing made. `call` and `plan` outlive the call.
  bool make(const BoxedCall& call, const PythonCallPlan& plan, const std::vector<CallOperandValue>& operands, Binding& binding,
            const ShownObjects& shown);
  // Releases the objects when the call was not made.
  void release() { plan_->materialiser.release(made_.data()); }

  const BoxedCall& call() const { return *call_; }
  const PythonCall& site() const { return *call_->python; }
  // The frames for the call, with references of their own.
  std::vector<FrameState> frames() const;
  // The objects by recipe, while they are owned here.
  PyObject* const* made() const { return made_.data(); }

  // New references for the callee and for the stores before the call.
  GivenObjects give();
  // Drops the references held here, so that the frames and the call are the only owners, as in the interpreter.
  void hand_over();

  // The object of a recipe after hand_over(), borrowed.
  PyObject* seen(RecipeId id) const { return seen_[static_cast<size_t>(id)]; }
  // Candidate `number` for the returned object; null when there is none.
  PyObject* candidate(int number) const;
  // The objects that have handles.
  const NamedObjects& named() const { return named_; }
  // Whether the values stored before the call are still there.
  bool are_stores_there() const;
  // Keeps objects that results of the op refer to alive: their only owner may be an argument, which is released after the call.
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
  std::vector<PyObject*> seen_;  // a copy of made_ after hand_over(), borrowed from the frames, the arguments or kept_
  NamedObjects named_;           // objects of seen_ that have handles
  std::vector<PyRef> kept_;      // objects of seen_ that have no other owner
};

}  // namespace accel
