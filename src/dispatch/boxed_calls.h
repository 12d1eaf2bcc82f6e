#pragma once
// BoxedCalls: the calls of Python callables that one run of a kernel makes. Every function but receive() and extent() requires
// the GIL.

#include <Python.h>

#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "capture/boxed_call.h"

namespace accel {

class BoxedCalls {
 public:
  // Both outlive this. `sources`: the objects at the entry's sources.
  BoxedCalls(const std::vector<BoxedCall>& calls, PyObject* const* sources);
  BoxedCalls(const BoxedCalls&) = delete;
  BoxedCalls& operator=(const BoxedCalls&) = delete;

  // AccelRuntime::call, extent and receive.
  int call(int number, const void* const* operands, const int64_t* dims);
  int64_t extent(int number, int result, int axis) const;
  int receive(int number, int result, void* memory, const int64_t* dims);
  // The same for kernels written in Python: operands are arrays and numbers, the answer is a tuple of the results, or null with
  // an exception.
  PyObject* call_with_objects(int number, PyObject* const* operands);

  // The run has failed and leaves no trace: generators get the state back that they had before it.
  void undo();
  // Why a call failed, if one did.
  const std::optional<Failure>& problem() const { return problem_; }

 private:
  struct Given {
    PyRef object;
    uint64_t bits[2] = {0, 0};  // of a number
  };
  bool prepare(const BoxedCall& call);
  PyRef operand(const Type& type, const void* memory, const int64_t* dims, const int64_t* strides) const;
  PyRef argument(const CallPart& part, const std::vector<PyRef>& operands) const;
  PyRef invoke(const BoxedCall& call, const std::vector<PyRef>& operands) const;
  bool take(int number, PyObject* answer);
  bool save_state(PyObject* generator);
  int failed();

  const std::vector<BoxedCall>& calls_;
  PyObject* const* sources_;
  std::vector<std::vector<Given>> given_;                // by call
  std::vector<std::pair<PyRef, PyRef>> bit_generators_;  // with their states before the first call
  std::optional<Failure> problem_;
};

}  // namespace accel
