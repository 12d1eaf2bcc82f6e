#pragma once
// Loops of functions whose C library takes several times as long where it sets errno: logarithms of what is not positive,
// exponentials beyond the range of floats. Result and events are constant over a whole range there, so such elements are not
// passed to the loop.

#include <atomic>

#include "codegen/kernel_abi.h"
#include "ir/dtype.h"
#include "ir/op.h"

namespace accel {

struct CostlyInputs;

// What is known of the loop of `op` from `from` to `to`; null: there is nothing to gain. Found by calling it, once for each op.
const CostlyInputs* costly_inputs(Op op, DType from, DType to, const AccelImport& loop);

// A loop and what it is spared; `auxdata` of call_without_costly_inputs.
struct SparedLoop {
  AccelImport loop;
  const CostlyInputs* inputs;
  // Whether the last piece of any thread had events, as every costly input has. Only speed depends on it.
  std::atomic<bool> had_events = false;
};
int call_without_costly_inputs(void* context, char* const* args, const intptr_t* dims, const intptr_t* strides, void* auxdata);

}  // namespace accel
