#pragma once
// Products of complex numbers: NumPy's loops use fused operations in some iteration modes and not in others.

#include <optional>
#include <vector>

#include "capture/protocol/operands.h"

namespace accel {

// A ufunc call whose loop has complex numbers.
struct ProductCall {
  Op op;
  const std::vector<Operand>& operands;
  const std::vector<Operand>& outs;
  const std::vector<Dim>& shape;  // of the result
  DType dtype;
  const Predicate* predicate;
  bool masked = false;  // by where=
};

// The op whose bits are those of NumPy's loop: multiply and square, or scalar_multiply (of two operands) where a result of one
// element is not fused. Other ops are returned unchanged. May add guards; fails where NumPy's bits cannot be predicted.
Result<Op> product_op(Capture& capture, const ProductCall& call);

// The reduced axes from fastest to slowest in NumPy's iteration order, given the mask (or no_value) and out= (or null); nullopt
// if no plan determines it.
std::optional<std::vector<int>> reduction_order(Capture& capture, ValueId value, const std::vector<int>& axes, ValueId mask,
                                                const Ref& out);

// A product reduction over axes.
struct ReducedProduct {
  ValueId value;
  const std::vector<int>& axes;  // ascending
  DType dtype;                   // of the accumulator
  bool buffered;                 // the elements are cast in buffers
  bool has_initial;
  ValueId mask;  // no_value when there is none
  Ref out;       // null when there is none
};

// The combining op: multiply, or fused_multiply where NumPy's inner loop fuses products. May add guards; fails where NumPy's
// bits cannot be predicted.
Result<Op> reduced_product_op(Capture& capture, const ReducedProduct& call);

}  // namespace accel
