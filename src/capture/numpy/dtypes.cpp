// result_type, can_cast, and the number of axes.

#include "capture/protocol/arguments.h"
#include "capture/protocol/numpy_calls.h"
#include "capture/protocol/operands.h"
#include "ndarray/array.h"
#include "ndarray/casts.h"

namespace accel {

// result_type(*arrays_and_dtypes)
Result<Ref> numpy_result_type_call(Capture& capture, PyObject*, const CallArguments& arguments) {
  if (!arguments.keywords.empty()) return fail(Reason::will_raise, "result_type takes no keyword arguments");
  std::vector<OperandType> types;
  for (const Ref& ref : arguments.positional) {
    if (auto operand = as_operand(capture, ref)) {
      types.push_back(operand->type);
      continue;
    }
    ACCEL_TRY(auto dtype, read_dtype(capture, ref));
    types.push_back({OperandType::Kind::array, dtype.value_or(DType::float64)});
  }
  ACCEL_TRY(DType dtype, numpy_result_type(types));
  return capture.values().constant(descr_of(dtype));
}

// can_cast(from, to, casting='safe'), `from` a dtype, array or NumPy scalar
Result<Ref> numpy_can_cast_call(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"from_", "to", "casting"}, 2}));
  std::optional<DType> from;
  auto operand = as_operand(capture, given[0]);
  bool typed = operand && (operand->is_array() || operand->type.kind == OperandType::Kind::numpy_scalar);
  if (typed) {
    from = operand->type.dtype;
  } else {
    ACCEL_TRY(from, read_dtype(capture, given[0]));
  }
  ACCEL_TRY(auto to, read_dtype(capture, given[1]));
  ACCEL_TRY(std::string casting, read_text(capture, given[2]));
  if (!from || !to) return fail(Reason::unsupported_argument, "can_cast of None");
  return capture.values().constant(can_cast(*from, *to, casting.empty() ? "safe" : casting) ? Py_True : Py_False);
}

}  // namespace accel
