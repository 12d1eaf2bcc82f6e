#pragma once
// BoxedCalls: the calls of Python callables that one run of a kernel makes. Every function but extent(), receive() and
// release_result() requires the GIL.

#include <Python.h>

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "capture/product/call_site.h"
#include "codegen/kernel_abi.h"
#include "dispatch/calls/python_calls.h"
#include "ndarray/array.h"

namespace accel {

class BoxedCalls {
 public:
  using Objects = std::pmr::vector<PyRef>;

  // `run`: the kernel's run, as checked at its start. `arrays`: the sources of the kernel's input arrays. `draws`: by call; a
  // draw with a C function gets its stream when it is first needed, and loses it when the lock of its bit generator is
  // released. All that the arguments refer to outlives this.
  BoxedCalls(const CheckedRun& run, std::span<const SourceId> arrays, std::span<AccelDraw> draws);
  BoxedCalls(const BoxedCalls&) = delete;
  BoxedCalls& operator=(const BoxedCalls&) = delete;

  // AccelRuntime::call, extent, receive and open_draw.
  int call(int number, const void* const* operands, const int64_t* dims);
  int64_t extent(int number, int result, int axis) const;
  // The number of elements of the largest array that the last call of this number returned.
  int64_t elements_given(int number) const;
  int receive(int number, int result, void* memory, const int64_t* dims);
  // An array that the last call of this number returned. Nothing, and a problem, if it has another shape.
  std::optional<ArrayLayout> received(int number, int result, const int64_t* dims);
  int open_draw(int number);
  // An array that a call returned, as a new reference, when it has this shape and neither it nor its memory has another owner;
  // else null.
  PyObject* release_result(int number, int result, const int64_t* dims);
  // Makes a call for a kernel written in Python: operands are arrays and numbers; returns a tuple of results, or null with an
  // exception.
  PyObject* call_with_objects(int number, PyObject* const* operands);
  // Whether the last call_with_objects() raised; failed() turns its exception into a status of the run.
  bool has_failed() const { return has_failed_; }
  int failed();

  std::span<const AccelDraw> draws() const { return draws_; }

  // Releases the locks of bit generators, after the kernel has ended.
  void release_locks();
  // Undoes the draws of a failed run: restores the state of generators and releases their locks.
  void undo();
  // The calls with unknown effects; null when there are none.
  PythonCalls* python() { return python_ ? &*python_ : nullptr; }
  // Releases all objects, so that the interpreter's frames are their only owners.
  void release_objects();
  // Whether the run ended within a call of unknown code.
  bool has_left() const { return python_ && python_->has_left(); }
  // Whether the run can neither continue nor be repeated.
  bool cannot_go_on() const { return cannot_go_on_; }
  // Why a call failed, if one did.
  const std::optional<Failure>& problem() const { return problem_; }

 private:
  struct Given {
    PyRef object;
    uint64_t bits[2] = {0, 0};  // if it is a number
  };
  // A bit generator that the run has drawn from, with its state from before.
  struct Used {
    PyRef bits;
    PyRef state;               // null: the state is in `small` or `large`
    PyRef owner, owner_state;  // a RandomState and its state before it drew normal numbers
    char small[64];
    std::unique_ptr<char[]> large;
    PyRef lock;  // null when this run does not hold it
  };
  int call_python(int number, const void* const* operands, const int64_t* dims);
  PyObject* call_python_with_objects(int number, PyObject* const* operands);
  int made_python(int number, PythonCalls::Made made);
  int not_made();
  void forget_given();
  PyObject* generator_of(const BoxedCall& call) const;
  Used* use(const BoxedCall& call);
  bool keep_state(Used& used) const;
  bool take_lock(Used& used);
  PyRef array_operand(DType dtype, const void* memory, std::span<const int64_t> dims, std::span<const int64_t> strides) const;
  PyRef operand(const Type& type, const void* memory, const int64_t* dims, const int64_t* strides) const;
  Given* given(int number);
  const Given* given(int number) const { return given_.data() + first_given_[static_cast<size_t>(number)]; }
  PyObject* argument(const CallPart& part, const Objects& operands) const;
  PyRef invoke(const BoxedCall& call, const Objects& operands);
  bool take(int number, PyObject* answer);
  PyObject* results_with_objects(int number, PyObject* const* operands);

  const std::vector<BoxedCall>& calls_;
  PyObject* const* sources_;
  void* const* inputs_;
  std::span<const SourceId> arrays_;  // by input of the kernel
  std::span<AccelDraw> draws_;
  // Room for the lists of a run with few small calls, so that it allocates no memory.
  alignas(std::max_align_t) std::byte room_[512];
  std::pmr::monotonic_buffer_resource memory_{room_, sizeof room_};
  std::pmr::vector<Given> given_{&memory_};           // results of all calls in sequence
  std::pmr::vector<uint32_t> first_given_{&memory_};  // by call: its first index in given_
  std::pmr::vector<Used> used_{&memory_};
  std::optional<PythonCalls> python_;
  Objects objects_{&memory_};                        // operands of the current call
  std::pmr::vector<PyObject*> arguments_{&memory_};  // arguments of the current call, owned
  std::optional<Failure> problem_;
  bool has_failed_ = false, cannot_go_on_ = false;
};

}  // namespace accel
