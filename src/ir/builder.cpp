#include "ir/builder.h"

#include <algorithm>

#include "ir/axes.h"
#include "ir/view_order.h"

namespace accel {

namespace {

std::vector<uint8_t> canonical(std::vector<uint8_t> order) {
  return std::is_sorted(order.begin(), order.end()) ? std::vector<uint8_t>{} : order;
}

}  // namespace

ValueId Builder::add(Op op, std::vector<ValueId> operands, Attributes attrs, Type result) {
  result.order = canonical(std::move(result.order));
  return graph_.add_node(block_, op, std::move(operands), std::move(attrs), {std::move(result)}, where_);
}

ValueId Builder::constant(Literal literal, ValueKind kind) {
  Attributes attrs;
  attrs.literal = literal;
  return add(Op::constant, {}, std::move(attrs), {kind, literal.dtype, {}, {}});
}

ValueId Builder::dim(Dim d, ValueKind kind) {
  Attributes attrs;
  attrs.dims = {d};
  return add(Op::dim, {}, std::move(attrs), {kind, DType::int64, {}, {}});
}

ValueId Builder::full(ValueId fill, std::vector<Dim> shape, std::vector<uint8_t> order, bool unread) {
  DType dtype = graph_.type(fill).dtype;
  Attributes attrs;
  attrs.unread = unread;
  return add(Op::full, {fill}, std::move(attrs), {ValueKind::array, dtype, std::move(shape), std::move(order)});
}

ValueId Builder::arange(ValueId start, ValueId delta, Dim count) {
  DType dtype = graph_.type(start).dtype;
  return add(Op::arange, {start, delta}, {}, {ValueKind::array, dtype, {count}, {}});
}

ValueId Builder::transpose(ValueId v, std::vector<int> axes) {
  const Type& from = graph_.type(v);
  Type type{from.kind, from.dtype, {}, transposed_order(from, axes)};
  for (int axis : axes) type.shape.push_back(from.shape[static_cast<size_t>(axis)]);
  Attributes attrs;
  attrs.axes = std::move(axes);
  return add(Op::transpose, {v}, std::move(attrs), std::move(type));
}

ValueId Builder::expand_dims(ValueId v, std::vector<int> axes) {
  const Type& from = graph_.type(v);
  Type type{ValueKind::array, from.dtype, {}, expanded_order(from, axes)};
  size_t next = 0;
  for (int axis = 0; axis < from.rank() + static_cast<int>(axes.size()); ++axis) {
    type.shape.push_back(contains_axis(axes, axis) ? graph_.dims.constant(1) : from.shape[next++]);
  }
  Attributes attrs;
  attrs.axes = std::move(axes);
  return add(Op::expand_dims, {v}, std::move(attrs), std::move(type));
}

ValueId Builder::squeeze(ValueId v, std::vector<int> axes) {
  const Type& from = graph_.type(v);
  Type type{from.kind, from.dtype, {}, order_without(from, axes)};
  for (int axis = 0; axis < from.rank(); ++axis) {
    if (!contains_axis(axes, axis)) type.shape.push_back(from.shape[static_cast<size_t>(axis)]);
  }
  Attributes attrs;
  attrs.axes = std::move(axes);
  return add(Op::squeeze, {v}, std::move(attrs), std::move(type));
}

ValueId Builder::broadcast_to(ValueId v, std::vector<Dim> shape) {
  const Type& from = graph_.type(v);
  if (from.shape == shape) return v;
  Type type{ValueKind::array, from.dtype, shape, broadcast_order(from, static_cast<int>(shape.size()))};
  return add(Op::broadcast_to, {v}, {}, std::move(type));
}

ValueId Builder::slice(ValueId v, std::vector<Dim> starts, std::vector<Dim> steps, std::vector<Dim> extents) {
  const Type& from = graph_.type(v);
  Type type{ValueKind::array, from.dtype, std::move(extents), from.order};
  Attributes attrs;
  attrs.dims = std::move(starts);
  attrs.steps = std::move(steps);
  return add(Op::slice, {v}, std::move(attrs), std::move(type));
}

ValueId Builder::reshape(ValueId v, std::vector<Dim> shape) {
  const Type& from = graph_.type(v);
  if (from.shape == shape) return v;
  std::vector<uint8_t> order = reshaped_order(graph_.dims, from, shape);
  return add(Op::reshape, {v}, {}, {ValueKind::array, from.dtype, std::move(shape), std::move(order)});
}

ValueId Builder::real(ValueId v) {
  Type type = graph_.type(v);
  type.dtype = part_dtype(type.dtype);
  return add(Op::real, {v}, {}, std::move(type));
}

ValueId Builder::imag(ValueId v) {
  Type type = graph_.type(v);
  type.dtype = part_dtype(type.dtype);
  return add(Op::imag, {v}, {}, std::move(type));
}

ValueId Builder::parts(ValueId v) {
  Type type = graph_.type(v);
  type.dtype = part_dtype(type.dtype);
  type.order = type.axis_order();
  type.order.push_back(static_cast<uint8_t>(type.rank()));
  type.shape.push_back(graph_.dims.constant(2));
  return add(Op::parts, {v}, {}, std::move(type));
}

ValueId Builder::astype(ValueId v, DType dtype) {
  Type type = graph_.type(v);
  if (type.dtype == dtype) return v;
  type.dtype = dtype;
  return add(Op::astype, {castable(v, dtype)}, {}, std::move(type));
}

// NumPy converts a single float beyond uint32 through int64, which preserves the low bits. Its loops for arrays do so only for
// the elements that are left over from vectors.
ValueId Builder::castable(ValueId v, DType dtype) {
  const Type& from = graph_.type(v);
  bool is_single = from.rank() == 0 && dtype_kind(from.dtype) == 'f' && dtype == DType::uint32;
  return is_single ? astype(v, DType::int64) : v;
}

ValueId Builder::pointwise(Op op, std::vector<ValueId> operands, std::vector<DType> results, ValueKind kind,
                           std::vector<uint8_t> order) {
  if (op == Op::astype) operands[0] = castable(operands[0], results[0]);
  std::vector<Dim> shape;
  for (ValueId v : operands) {
    if (graph_.type(v).rank() > 0) shape = graph_.type(v).shape;
  }
  std::vector<Type> types;
  for (DType dtype : results) types.push_back({kind, dtype, shape, canonical(order)});
  return graph_.add_node(block_, op, std::move(operands), {}, std::move(types), where_);
}

ValueId Builder::reduce(Op ufunc, ValueId v, std::vector<int> axes, DType dtype, ValueId initial, bool buffered, ValueKind kind,
                        ValueId mask) {
  const Type& from = graph_.type(v);
  Type type{kind, dtype, {}, order_without(from, axes)};
  for (int axis = 0; axis < from.rank(); ++axis) {
    if (!contains_axis(axes, axis)) type.shape.push_back(from.shape[static_cast<size_t>(axis)]);
  }
  Attributes attrs;
  attrs.axes = std::move(axes);
  attrs.ufunc = ufunc;
  attrs.buffered = buffered;
  std::vector<ValueId> operands = {v};
  if (initial != no_value) operands.push_back(initial);
  if (mask != no_value) operands.push_back(mask);
  return add(Op::reduce, std::move(operands), std::move(attrs), std::move(type));
}

ValueId Builder::argreduce(Op op, ValueId v, int axis, ValueKind kind) {
  Type type{kind, DType::int64, graph_.type(v).shape, {}};
  type.shape.erase(type.shape.begin() + axis);
  Attributes attrs;
  attrs.axes = {axis};
  return add(op, {v}, std::move(attrs), std::move(type));
}

ValueId Builder::concatenate(std::vector<ValueId> operands, int axis, std::vector<uint8_t> order) {
  Type type = graph_.type(operands[0]);
  type.order = std::move(order);
  Dim& total = type.shape[static_cast<size_t>(axis)];
  for (size_t i = 1; i < operands.size(); ++i) {
    total = graph_.dims.add(total, graph_.type(operands[i]).shape[static_cast<size_t>(axis)]);
  }
  Attributes attrs;
  attrs.axes = {axis};
  return add(Op::concatenate, std::move(operands), std::move(attrs), std::move(type));
}

ValueId Builder::copy(ValueId v, std::vector<uint8_t> order) {
  Type type = graph_.type(v);
  type.kind = ValueKind::array;
  if (!order.empty()) type.order = std::move(order);
  return add(Op::copy, {v}, {}, std::move(type));
}

ValueId Builder::lanes(ValueId v, ValueId mask) {
  Type type = graph_.type(v);
  type.kind = ValueKind::array;
  type.shape = graph_.type(mask).shape;
  if (graph_.type(v).rank() == 0) type.order = graph_.type(mask).order;
  return add(Op::lanes, {v, mask}, {}, std::move(type));
}

Builder::Checked Builder::checked(Op op, ValueId a, ValueId b) {
  Op test = op == Op::add ? Op::add_overflows : op == Op::subtract ? Op::subtract_overflows : Op::multiply_overflows;
  Type integer{ValueKind::py_scalar, DType::int64, {}, {}}, flag{ValueKind::py_scalar, DType::bool_, {}, {}};
  return {add(op, {a, b}, {}, std::move(integer)), add(test, {a, b}, {}, std::move(flag))};
}

ValueId Builder::bind(Dim d, ValueId v) {
  Attributes attrs;
  attrs.dims = {d};
  return add(Op::bind, {v}, std::move(attrs), graph_.type(v));
}

ValueId Builder::store(ValueId base, ValueId view, ValueId value, ValueId mask) {
  std::vector<ValueId> operands = {base, view, value};
  if (mask != no_value) operands.push_back(mask);
  return add(Op::store, std::move(operands), {}, graph_.type(base));
}

ValueId Builder::take(ValueId v, std::vector<ValueId> indices, ValueKind kind) {
  const Type& from = graph_.type(v);
  Type type{kind, from.dtype, graph_.type(indices[0]).shape, {}};
  type.shape.insert(type.shape.end(), from.shape.begin() + static_cast<std::ptrdiff_t>(indices.size()), from.shape.end());
  indices.insert(indices.begin(), v);
  return add(Op::take, std::move(indices), {}, std::move(type));
}

ValueId Builder::put(ValueId base, ValueId value, std::vector<ValueId> indices) {
  indices.insert(indices.begin(), {base, value});
  return add(Op::put, std::move(indices), {}, graph_.type(base));
}

ValueId Builder::update_at(Op ufunc, ValueId base, ValueId value, std::vector<ValueId> indices) {
  Attributes attrs;
  attrs.ufunc = ufunc;
  indices.insert(indices.begin(), {base, value});
  return add(Op::update_at, std::move(indices), std::move(attrs), graph_.type(base));
}

ValueId Builder::add_row(ValueId base, ValueId row) {
  Type type = graph_.type(base);
  type.shape[0] = graph_.dims.add(type.shape[0], graph_.dims.constant(1));
  return add(Op::add_row, {base, row}, {}, std::move(type));
}

ValueId Builder::drop_row(ValueId base) {
  Type type = graph_.type(base);
  type.shape[0] = graph_.dims.sub(type.shape[0], graph_.dims.constant(1));
  return add(Op::drop_row, {base}, {}, std::move(type));
}

ValueId Builder::true_indices(ValueId mask, Dim count) {
  return add(Op::true_indices, {mask}, {}, Type{ValueKind::array, DType::int64, {count}, {}});
}

ValueId Builder::accumulate(Op ufunc, ValueId v, int axis) {
  Attributes attrs;
  attrs.ufunc = ufunc;
  attrs.axes = {axis};
  Type type = graph_.type(v);
  type.kind = ValueKind::array;
  return add(Op::accumulate, {v}, std::move(attrs), std::move(type));
}

BlockId Builder::new_block() {
  graph_.blocks.emplace_back();
  return static_cast<BlockId>(graph_.blocks.size()) - 1;
}

ValueId Builder::param(BlockId block, Type type) { return graph_.add_param(block, std::move(type)); }

void Builder::jump(BlockId target, std::vector<ValueId> arguments) {
  Terminator& t = terminator();
  t = {};
  t.kind = TerminatorKind::jump;
  t.targets[0] = target;
  t.target_arguments[0] = std::move(arguments);
}

void Builder::branch(ValueId condition, BlockId when_true, std::vector<ValueId> true_arguments, BlockId when_false,
                     std::vector<ValueId> false_arguments) {
  Terminator& t = terminator();
  t = {};
  t.kind = TerminatorKind::branch;
  t.operands = {condition};
  t.targets[0] = when_true;
  t.targets[1] = when_false;
  t.target_arguments[0] = std::move(true_arguments);
  t.target_arguments[1] = std::move(false_arguments);
}

void Builder::ret(std::vector<ValueId> outputs) {
  terminator() = {};
  terminator().operands = std::move(outputs);
}

void Builder::leave(int exit, std::vector<ValueId> outputs) {
  terminator() = {};
  terminator().kind = TerminatorKind::leave;
  terminator().exit = exit;
  terminator().operands = std::move(outputs);
}

ValueId Builder::call(int number, std::vector<ValueId> operands) {
  Attributes attrs;
  attrs.call = number;
  return add(Op::call, std::move(operands), std::move(attrs), {ValueKind::numpy_scalar, DType::int64, {}, {}});
}

ValueId Builder::python_call(int number, std::vector<ValueId> operands) {
  Attributes attrs;
  attrs.call = number;
  return add(Op::python_call, std::move(operands), std::move(attrs), {ValueKind::numpy_scalar, DType::int64, {}, {}});
}

ValueId Builder::interrupted() { return add(Op::interrupted, {}, {}, {ValueKind::py_scalar, DType::bool_, {}, {}}); }

ValueId Builder::reload(ValueId memory) { return add(Op::reload, {memory}, {}, Type(graph_.type(memory))); }

ValueId Builder::draw(int number, std::vector<ValueId> operands, Type type) {
  Attributes attrs;
  attrs.call = number;
  return add(Op::draw, std::move(operands), std::move(attrs), std::move(type));
}

ValueId Builder::extent(ValueId call, int result, int axis) {
  Attributes attrs;
  attrs.axes = {result, axis};
  return add(Op::extent, {call}, std::move(attrs), {ValueKind::numpy_scalar, DType::int64, {}, {}});
}

ValueId Builder::received(ValueId call, int result, Type type) {
  Attributes attrs;
  attrs.axes = {result};
  return add(Op::received, {call}, std::move(attrs), std::move(type));
}

ValueId Builder::gufunc(Op op, std::vector<ValueId> operands, Type result) {
  return add(op, std::move(operands), {}, std::move(result));
}

}  // namespace accel
