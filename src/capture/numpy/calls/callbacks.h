#pragma once
// Calls of NumPy's C functions that compiled code asks the process to make (BoxedCall), for functions without an op.

#include <optional>
#include <vector>

#include "capture/context/context.h"
#include "capture/product/call_site.h"

namespace accel {

// A result of a call: kind, dtype and order as NumPy makes it. Extents without a value are known at run time only.
struct BoxedResult {
  ValueKind kind = ValueKind::array;
  DType dtype = DType::float64;
  std::vector<std::optional<Dim>> shape;
  std::vector<uint8_t> order;
  int64_t hint = 1;  // of extents without a value
};

// A call that is not in the graph yet.
struct BoxedArguments {
  BoxedCall call;
  std::vector<ValueId> operands;
};

// Converts arguments: arrays and numbers become operands; others must be constants, tuples and lists of these, or objects at
// sources.
Result<BoxedArguments> boxed_arguments(Capture& capture, PyObject* callable, const CallArguments& arguments);

// The kinds, dtypes and ranks of the results, found by calling NumPy with small arrays of zeros and the numbers of this call.
// Fails with unsupported_argument if the call raises.
Result<std::vector<BoxedResult>> sampled_results(Capture& capture, const BoxedArguments& arguments);

// An array with that many axes, or unsupported_value.
Result<Ref> array_of_rank(const Ref& ref, size_t least, const char* what);

// Adds the call, whose only result has this shape; its dtype and kind are those of a sampled call.
Result<Ref> call_of_shape(Capture& capture, PyObject* callable, const CallArguments& arguments, const std::vector<Dim>& shape,
                          std::vector<uint8_t> order = {});
Result<Ref> call_of_shape(Capture& capture, BoxedArguments arguments, const std::vector<Dim>& shape,
                          std::vector<uint8_t> order = {});
// Adds a call whose only result is an array of positions of this shape.
Result<Ref> call_of_positions(Capture& capture, PyObject* callable, const CallArguments& arguments,
                              const std::vector<Dim>& shape, DeviceForm form = {});

// Adds the call to the graph; returns one value per result.
std::vector<Ref> boxed_call(Capture& capture, BoxedArguments arguments, const std::vector<BoxedResult>& results);

}  // namespace accel
