#pragma once
// Operands of NumPy operations: abstract values as NumPy's type rules and broadcasting see them.

#include <optional>
#include <vector>

#include "capture/context/context.h"
#include "ndarray/loops.h"

namespace accel {

// An array, NumPy scalar or Python number.
struct Operand {
  Ref ref;
  OperandType type;
  std::vector<Dim> shape;  // empty: 0-d
  bool is_array() const { return type.kind == OperandType::Kind::array; }
};

// Fails with unsupported_value (or the reason why an array is unsupported) for other objects. A nested list or tuple of numbers
// becomes the array that np.asarray makes of it.
Result<Operand> read_operand(Capture& capture, const Ref& ref);
// Like read_operand, but lists and tuples are rejected: nullopt unless `ref` is an array or a number.
std::optional<Operand> as_operand(Capture& capture, const Ref& ref);

// A new NumPy number object with an equal value.
Ref another_number(Capture& capture, const Ref& number);

// The operand's contents cast to `dtype` as NumPy casts operands to a loop's dtype, in the operand's own shape. will_raise for
// a Python int that does not fit `dtype`.
Result<ValueId> operand_value(Capture& capture, const Operand& operand, DType dtype);
// operand_value() for a gufunc: NumPy casts its operands into C order.
Result<ValueId> gufunc_operand(Capture& capture, const Operand& operand, DType dtype);
// Fails with will_raise if the integer, whatever its value, does not fit an integer `dtype`.
Status check_dim(Capture& capture, Dim dim, DType dtype);
// Conversion of a number to an array element through int(number) (array[i] = number, fill): NumPy raises where the result does
// not fit a signed dtype, and for Python floats any integer dtype. Compiled code checks it; for Python ints operand_value does.
Status require_element_in_range(Capture& capture, const Operand& number, DType dtype);

// The shape that arrays of these shapes broadcast to, by guards on extents; will_raise when they do not.
Result<std::vector<Dim>> broadcast_shapes(Capture& capture, const std::vector<std::vector<Dim>>& shapes);
// `value` broadcast to exactly `shape`. A value of rank 0 is returned unchanged.
ValueId broadcast_value(Capture& capture, ValueId value, const std::vector<Dim>& shape);
// `value` typed with `shape`, whose extents are equal to its own but may be other expressions.
ValueId with_shape(Capture& capture, ValueId value, const std::vector<Dim>& shape);

// Memory order (axes from slowest to fastest; empty: C order) that NumPy's iterator gives a result of `shape` for these
// operands under order 'K'.
std::vector<uint8_t> result_order(Capture& capture, const std::vector<Operand>& operands, const std::vector<Dim>& shape);
// Memory order, from slowest to fastest, of the `rank` outer axes of a gufunc's result. `core`: for each operand the number of
// trailing axes that the gufunc's loop handles.
std::vector<uint8_t> outer_order(Capture& capture, const std::vector<Operand>& operands, const std::vector<size_t>& core,
                                 size_t rank);

// Memory order, axes from slowest to fastest, of a concatenation of `operands`.
std::vector<uint8_t> joined_order(Capture& capture, const std::vector<Operand>& operands);
// The axes sorted by stride, widest first.
std::vector<uint8_t> stride_order(Capture& capture, const Ref& array);
// Memory order of a copy with order 'K'.
std::vector<uint8_t> copy_order(Capture& capture, const Ref& array);
// Memory order of a copy with an `order` argument C, F, A or K.
Result<std::vector<uint8_t>> copy_order(Capture& capture, const Ref& array, const std::string& order);

// Whether the extent is known to be 1 or was decided to be.
bool is_one(Capture& capture, Dim a);
// Whether some extent is 0. Adds a guard only for extents that are 0 in the captured call.
bool has_no_elements(Capture& capture, const std::vector<Dim>& shape);
Dim element_count(Capture& capture, const std::vector<Dim>& shape);

// Contiguity of an array's memory, as far as capture knows it.
bool is_c_contiguous(Capture& capture, const Ref& array);
bool is_f_contiguous(Capture& capture, const Ref& array);
// Whether its memory already has the order that `order` (C, F, A, K) requests.
bool is_in_order(Capture& capture, const Ref& array, const std::string& order);

const StridedLayout& layout_of(const Ref& array);

}  // namespace accel
