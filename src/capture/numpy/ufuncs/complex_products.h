#pragma once
// Products of complex numbers: NumPy's loops use fused operations, but not for every way to iterate.

#include <optional>
#include <vector>

#include "capture/protocol/operands.h"

namespace accel {

// The operands of a ufunc call whose loop is one of complex numbers.
struct ProductCall {
  Op op;
  const std::vector<Operand>& operands;
  const std::vector<Operand>& outs;
  const std::vector<Dim>& shape;  // of the result
  DType dtype;
  const Predicate* predicate;
  bool masked = false;  // by where=
};

// The op that has the bits of NumPy's loop: multiply and square, or scalar_multiply (of two operands) where a result of one
// element is not fused. Other ops stay as they are. May add guards; fails where NumPy's bits depend on more than that.
Result<Op> product_op(Capture& capture, const ProductCall& call);

// The axes of what is reduced from fastest to slowest as NumPy goes through them, the mask (or no_value) and out= (or null);
// nullopt when no plan says so.
std::optional<std::vector<int>> reduction_order(Capture& capture, ValueId value, const std::vector<int>& axes, ValueId mask,
                                                const Ref& out);

// A product over axes.
struct ReducedProduct {
  ValueId value;
  const std::vector<int>& axes;  // ascending
  DType dtype;                   // of the accumulator
  bool buffered;                 // the elements are cast in buffers
  bool has_initial;
  ValueId mask;  // no_value when there is none
  Ref out;       // null when there is none
};

// The op that combines: multiply, or fused_multiply where NumPy's inner loop is one of fused products. May add guards; fails
// where NumPy's bits depend on more than that.
Result<Op> reduced_product_op(Capture& capture, const ReducedProduct& call);

}  // namespace accel
