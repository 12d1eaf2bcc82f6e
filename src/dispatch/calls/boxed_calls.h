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

namespace accel {

class BoxedCalls {
 public:
  using Objects = std::pmr::vector<PyRef>;

  // What they refer to outlives this. `run`: that of the kernel, as it was checked at its start. `arrays`: the sources of
  // the arrays whose memory the kernel gets as its inputs. `draws`: by call; those with a function are opened on demand, and
  // closed when the lock of their bit generator is given back.
  BoxedCalls(const CheckedRun& run, std::span<const SourceId> arrays, std::span<AccelDraw> draws);
  BoxedCalls(const BoxedCalls&) = delete;
  BoxedCalls& operator=(const BoxedCalls&) = delete;

  // AccelRuntime::call, extent, receive and open_draw.
  int call(int number, const void* const* operands, const int64_t* dims);
  int64_t extent(int number, int result, int axis) const;
  // Elements of the largest array that the last call of the function gave.
  int64_t elements_given(int number) const;
  int receive(int number, int result, void* memory, const int64_t* dims);
  int open_draw(int number);
  // The array that a call gave, as a new reference, when it has this shape and nobody else has it or its memory; else null.
  PyObject* release_result(int number, int result, const int64_t* dims);
  // The same for kernels written in Python: operands are arrays and numbers, the answer is a tuple of the results, or null with
  // an exception.
  PyObject* call_with_objects(int number, PyObject* const* operands);
  // Whether the latest of those has raised; what its exception makes of the run.
  bool has_failed() const { return has_failed_; }
  int failed();

  std::span<const AccelDraw> draws() const { return draws_; }

  // The kernel has ended: gives locks of bit generators back.
  void release_locks();
  // The run has failed and leaves no trace: generators get the state back that they had before it, and their locks are free.
  void undo();
  // Those that may do anything; null when there are none.
  PythonCalls* python() { return python_ ? &*python_ : nullptr; }
  // The run has ended, and frames go on: they alone have what they name.
  void release_objects();
  // Whether the run has ended in a call.
  bool has_left() const { return python_ && python_->has_left(); }
  // Whether the run can neither go on nor be made again.
  bool cannot_go_on() const { return cannot_go_on_; }
  // Why a call failed, if one did.
  const std::optional<Failure>& problem() const { return problem_; }

 private:
  struct Given {
    PyRef object;
    uint64_t bits[2] = {0, 0};  // of a number
  };
  // A bit generator that the run has drawn from, as it was before.
  struct Used {
    PyRef bits;
    PyRef state;               // null: it is in `small`, or in `large`
    PyRef owner, owner_state;  // a RandomState, and its own state, from before it drew normal numbers
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
  std::span<const SourceId> arrays_;  // by input
  std::span<AccelDraw> draws_;
  // Enough for runs that make a few small calls: what lists need comes from here, so that such a run asks for no memory.
  alignas(std::max_align_t) std::byte room_[512];
  std::pmr::monotonic_buffer_resource memory_{room_, sizeof room_};
  std::pmr::vector<Given> given_{&memory_};           // the results of all calls, one after the other
  std::pmr::vector<uint32_t> first_given_{&memory_};  // by call
  std::pmr::vector<Used> used_{&memory_};
  std::optional<PythonCalls> python_;
  Objects objects_{&memory_};                        // operands of the call that is being made
  std::pmr::vector<PyObject*> arguments_{&memory_};  // of that call, owned
  std::optional<Failure> problem_;
  bool has_failed_ = false, cannot_go_on_ = false;
};

}  // namespace accel
