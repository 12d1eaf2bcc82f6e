#pragma once
// Builder: appends ops to one block with shapes worked out and checked. Casts and dtypes are the caller's (NumPy's) business.

#include <span>

#include "ir/graph.h"

namespace accel {

class Builder {
 public:
  explicit Builder(Graph& graph, BlockId block = 0) : graph_(graph), block_(block) {}

  Graph& graph() { return graph_; }
  void set_location(Location where) { where_ = where; }

  ValueId constant(Literal literal, ValueKind kind = ValueKind::py_scalar);
  ValueId dim(Dim d, ValueKind kind = ValueKind::py_scalar);  // int64
  ValueId full(ValueId fill, std::vector<Dim> shape, std::vector<uint8_t> order = {}, bool unread = false);
  ValueId arange(ValueId start, ValueId delta, Dim count);
  ValueId transpose(ValueId v, std::vector<int> axes);
  ValueId expand_dims(ValueId v, std::vector<int> axes);
  ValueId squeeze(ValueId v, std::vector<int> axes);
  ValueId broadcast_to(ValueId v, std::vector<Dim> shape);  // v itself when it has the shape
  ValueId slice(ValueId v, std::vector<Dim> starts, std::vector<Dim> steps, std::vector<Dim> extents);
  ValueId reshape(ValueId v, std::vector<Dim> shape);
  ValueId real(ValueId v);
  ValueId imag(ValueId v);
  ValueId parts(ValueId v);                // of an array
  ValueId astype(ValueId v, DType dtype);  // v itself when it has the dtype
  // Operands of one shape (rank 0 is allowed and stays as it is); result dtypes from NumPy. `order` is the result's.
  ValueId pointwise(Op op, std::vector<ValueId> operands, std::vector<DType> results, ValueKind kind = ValueKind::array,
                    std::vector<uint8_t> order = {});
  // initial, mask: no_value for none. Requires ascending axes. Result dtype given (differs from the operand's when buffered).
  ValueId reduce(Op ufunc, ValueId v, std::vector<int> axes, DType dtype, ValueId initial = no_value, bool buffered = false,
                 ValueKind kind = ValueKind::array, ValueId mask = no_value);
  ValueId argreduce(Op op, ValueId v, int axis, ValueKind kind = ValueKind::array);  // int64
  ValueId concatenate(std::vector<ValueId> operands, int axis, std::vector<uint8_t> order = {});
  // Memory of its own with the elements of v.
  ValueId copy(ValueId v, std::vector<uint8_t> order = {});
  // v where mask holds; elements elsewhere do not exist (graph.h).
  ValueId lanes(ValueId v, ValueId mask);
  // The value of Python's int arithmetic (op: add, subtract, multiply) and whether it leaves int64.
  struct Checked {
    ValueId value, overflows;
  };
  Checked checked(Op op, ValueId a, ValueId b);
  // Gives the bare symbol `d` the value of the int64 scalar v for everything that follows.
  ValueId bind(Dim d, ValueId v);
  // New version of base: the elements of `view` (a chain of views on base, perhaps base itself) become those of value, where
  // mask holds when there is one. Value and mask have the view's shape.
  ValueId store(ValueId base, ValueId view, ValueId value, ValueId mask = no_value);
  // Elements of v at indices for its leading axes, and a new version of base with `value` there.
  ValueId take(ValueId v, std::vector<ValueId> indices, ValueKind kind = ValueKind::array);
  ValueId put(ValueId base, ValueId value, std::vector<ValueId> indices);

  // A new version of base where each element at the indices becomes ufunc(element, value), in order.
  ValueId update_at(Op ufunc, ValueId base, ValueId value, std::vector<ValueId> indices);
  // base, of rank >= 1, with one more row at its end.
  ValueId add_row(ValueId base, ValueId row);
  ValueId drop_row(ValueId base);
  // Positions of the true elements in C order; `count` is their number.
  ValueId true_indices(ValueId mask, Dim count);
  ValueId accumulate(Op ufunc, ValueId v, int axis);

  // --- blocks ---------------------------------------------------------------------------------------------------------
  BlockId block() const { return block_; }
  // Nodes go to the end of `block` from now on.
  void move_to(BlockId block) { block_ = block; }
  BlockId new_block();
  ValueId param(BlockId block, Type type);
  void jump(BlockId target, std::vector<ValueId> arguments = {});
  void branch(ValueId condition, BlockId when_true, std::vector<ValueId> true_arguments, BlockId when_false,
              std::vector<ValueId> false_arguments);
  Terminator& terminator() { return graph_.blocks[static_cast<size_t>(block_)].terminator; }
  void ret(std::vector<ValueId> outputs);
  void leave(int exit, std::vector<ValueId> outputs);

  // A call of function `number` of the caller's, and what it gave (ops.inc).
  ValueId call(int number, std::vector<ValueId> operands);
  ValueId python_call(int number, std::vector<ValueId> operands);
  ValueId interrupted();
  ValueId reload(ValueId memory);
  ValueId extent(ValueId call, int result, int axis);
  ValueId received(ValueId call, int result, Type type);
  ValueId draw(int number, std::vector<ValueId> operands, Type type);

  ValueId gufunc(Op op, std::vector<ValueId> operands, Type result);

 private:
  ValueId castable(ValueId v, DType dtype);
  ValueId add(Op op, std::vector<ValueId> operands, Attributes attrs, Type result);

  Graph& graph_;
  BlockId block_;
  Location where_;
};

}  // namespace accel
