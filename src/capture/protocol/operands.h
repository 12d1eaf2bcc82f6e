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

// Fails with unsupported_value (or the reason why an array is none of ours) when `ref` is no such value. Nested lists and
// tuples of numbers become the array that np.asarray makes of them.
Result<Operand> read_operand(Capture& capture, const Ref& ref);
// The same without lists: nullopt when `ref` is no array or number.
std::optional<Operand> as_operand(Capture& capture, const Ref& ref);

// A NumPy number of the same value, as an object of its own.
Ref another_number(Capture& capture, const Ref& number);

// Contents of the operand as `dtype`, cast as NumPy casts operands to a loop's dtype; of the operand's own shape.
// will_raise: a Python int that does not fit `dtype`.
Result<ValueId> operand_value(Capture& capture, const Operand& operand, DType dtype);
// The same for a gufunc: what NumPy casts for one lies in C order.
Result<ValueId> gufunc_operand(Capture& capture, const Operand& operand, DType dtype);
// will_raise where an integer, which may be any number, is none of an integer dtype.
Status check_dim(Capture& capture, Dim dim, DType dtype);
// A number becomes an element the way objects do (array[i] = number, fill): NumPy raises where int(number) does not fit a
// signed dtype, and for Python's floats any integer dtype. Compiled code checks it, but for Python's ints
// (operand_value).
Status require_element_in_range(Capture& capture, const Operand& number, DType dtype);

// The shape that arrays of these shapes broadcast to, by guards on extents; will_raise when they do not.
Result<std::vector<Dim>> broadcast_shapes(Capture& capture, const std::vector<std::vector<Dim>>& shapes);
// `value` as an array of exactly `shape`, which its own shape broadcasts to. A value of rank 0 stays as it is.
ValueId broadcast_value(Capture& capture, ValueId value, const std::vector<Dim>& shape);
// `value` with `shape`, whose extents are equal to its own but perhaps other expressions.
ValueId with_shape(Capture& capture, ValueId value, const std::vector<Dim>& shape);

// Axes from slowest to fastest of the memory that NumPy's iterator gives a result of `shape` for these operands
// (order 'K'). Empty: C order.
std::vector<uint8_t> result_order(Capture& capture, const std::vector<Operand>& operands, const std::vector<Dim>& shape);
// Order of the `rank` outer axes of a gufunc's result in memory, from slowest to fastest. `core`: by operand, how many of its
// last axes the gufunc's loop takes.
std::vector<uint8_t> outer_order(Capture& capture, const std::vector<Operand>& operands, const std::vector<size_t>& core,
                                 size_t rank);

// Axes from slowest to fastest of the memory of a concatenation of `operands`.
std::vector<uint8_t> joined_order(Capture& capture, const std::vector<Operand>& operands);
// Axes from the widest stride to the narrowest.
std::vector<uint8_t> stride_order(Capture& capture, const Ref& array);
// The order of a copy that keeps the array's order ('K').
std::vector<uint8_t> copy_order(Capture& capture, const Ref& array);
// The same of a copy with an `order` argument: C, F, A or K.
Result<std::vector<uint8_t>> copy_order(Capture& capture, const Ref& array, const std::string& order);

// Whether a is known to be 1 or was decided to be.
bool is_one(Capture& capture, Dim a);
// Whether an extent is 0: asked, which may take a guard, of those that are 0 in the call that is captured.
bool has_no_elements(Capture& capture, const std::vector<Dim>& shape);
// The number of elements.
Dim element_count(Capture& capture, const std::vector<Dim>& shape);

// How the memory of an array lies, as far as capture knows.
bool is_c_contiguous(Capture& capture, const Ref& array);
bool is_f_contiguous(Capture& capture, const Ref& array);
// Whether it lies as `order` (C, F, A, K) asks already.
bool is_in_order(Capture& capture, const Ref& array, const std::string& order);

const Lens& lens_of(const Ref& array);

}  // namespace accel
