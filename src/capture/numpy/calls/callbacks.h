#pragma once
// Calls of NumPy's C functions that compiled code makes through the process (BoxedCall): for functions without a lowering of
// ours.

#include <optional>
#include <vector>

#include "capture/context/context.h"
#include "capture/product/call_site.h"

namespace accel {

// A result: kind, dtype and order as NumPy's; an extent that is not given is known at run time only.
struct BoxedResult {
  ValueKind kind = ValueKind::array;
  DType dtype = DType::float64;
  std::vector<std::optional<Dim>> shape;
  std::vector<uint8_t> order;
  int64_t hint = 1;  // of extents that are not given
};

// A call of `callable` on its way into the graph.
struct BoxedArguments {
  BoxedCall call;
  std::vector<ValueId> operands;
};

// Arrays and numbers become operands, other arguments must be constants, tuples and lists of those, or objects at sources.
Result<BoxedArguments> boxed_arguments(Capture& capture, PyObject* callable, const CallArguments& arguments);

// What the callable gives for arrays of zeros, small ones, and the numbers of this call: kinds, dtypes and ranks of its
// results, from NumPy itself. Fails with unsupported_argument when it raises.
Result<std::vector<BoxedResult>> sampled_results(Capture& capture, const BoxedArguments& arguments);

// The call, whose only result has this shape; dtype and kind are those of a sample.
Result<Ref> call_of_shape(Capture& capture, PyObject* callable, const CallArguments& arguments, const std::vector<Dim>& shape,
                          std::vector<uint8_t> order = {});

// Adds the call to the graph; one value per result.
std::vector<Ref> boxed_call(Capture& capture, BoxedArguments arguments, const std::vector<BoxedResult>& results);

}  // namespace accel
