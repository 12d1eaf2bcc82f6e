#include "ir/analysis/node_rules.h"

#include <algorithm>

#include "ir/axes.h"

namespace accel {

namespace {

// A dim of an entry: symbols only, all of them declared.
bool is_entry_dim(const Graph& graph, Dim d) {
  if (d.id < 0) return false;
  std::vector<int> symbols = graph.dims.symbols(d);
  return symbols.empty() || (symbols.front() >= 0 && static_cast<size_t>(symbols.back()) < graph.symbols.size());
}

bool is_permutation_of_axes(const auto& axes, int rank) {
  if (static_cast<int>(axes.size()) != rank) return false;
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  for (int axis : axes) {
    if (axis < 0 || axis >= rank || seen[static_cast<size_t>(axis)]) return false;
    seen[static_cast<size_t>(axis)] = true;
  }
  return true;
}

bool are_ascending_axes(const std::vector<int>& axes, int rank) {
  for (size_t k = 0; k < axes.size(); ++k) {
    if (axes[k] < 0 || axes[k] >= rank || (k > 0 && axes[k] <= axes[k - 1])) return false;
  }
  return true;
}

// One node under test.
struct Context {
  const Graph& graph;
  const Node& node;
  const Attributes& attrs;
  const Type& result;
  const Type& operand(size_t k) const { return graph.type(node.operands[k]); }
  bool is_one(Dim d) const { return graph.dims.is_constant(d, 1); }
};

std::string constant_error(const Context& c) {
  if (c.result.rank() != 0) return "a constant has rank 0";
  return c.attrs.literal.dtype == c.result.dtype ? "" : "literal and result differ in dtype";
}

std::string dim_error(const Context& c) {
  if (c.result.rank() != 0 || c.result.dtype != DType::int64) return "the result is an int64 of rank 0";
  return c.attrs.dims.size() == 1 ? "" : "one dim is needed";
}

std::string full_error(const Context& c) {
  if (c.operand(0).rank() != 0) return "the fill value has rank 0";
  return c.operand(0).dtype == c.result.dtype ? "" : "fill value and result differ in dtype";
}

std::string arange_error(const Context& c) {
  if (c.result.rank() != 1) return "the result has rank 1";
  for (size_t k = 0; k < 2; ++k) {
    if (c.operand(k).rank() != 0 || c.operand(k).dtype != c.result.dtype)
      return "start and delta are scalars of the result's dtype";
  }
  return "";
}

std::string transpose_error(const Context& c) {
  const Type& from = c.operand(0);
  if (!is_permutation_of_axes(c.attrs.axes, from.rank())) return "axes are no permutation";
  if (c.result.rank() != from.rank()) return "the rank changed";
  for (size_t k = 0; k < c.attrs.axes.size(); ++k) {
    if (c.result.shape[k] != from.shape[static_cast<size_t>(c.attrs.axes[k])]) return "shape and axes disagree";
  }
  return "";
}

std::string expand_dims_error(const Context& c) {
  if (!are_ascending_axes(c.attrs.axes, c.result.rank())) return "axes are not ascending";
  for (int axis : c.attrs.axes) {
    if (!c.is_one(c.result.shape[static_cast<size_t>(axis)])) return "a new axis has extent 1";
  }
  return without_axes(c.result.shape, c.attrs.axes) == c.operand(0).shape ? "" : "shape and axes disagree";
}

std::string squeeze_error(const Context& c) {
  const Type& from = c.operand(0);
  if (!are_ascending_axes(c.attrs.axes, from.rank())) return "axes are not ascending";
  for (int axis : c.attrs.axes) {
    if (!c.is_one(from.shape[static_cast<size_t>(axis)])) return "a dropped axis has extent 1";
  }
  return without_axes(from.shape, c.attrs.axes) == c.result.shape ? "" : "shape and axes disagree";
}

std::string broadcast_error(const Context& c) {
  const Type& from = c.operand(0);
  int extra = c.result.rank() - from.rank();
  if (extra < 0) return "the rank shrank";
  for (int k = 0; k < from.rank(); ++k) {
    Dim extent = from.shape[static_cast<size_t>(k)];
    if (extent != c.result.shape[static_cast<size_t>(k + extra)] && !c.is_one(extent)) return "the shapes do not broadcast";
  }
  return "";
}

std::string slice_error(const Context& c) {
  size_t rank = c.operand(0).shape.size();
  bool matching = c.attrs.dims.size() == rank && c.attrs.steps.size() == rank && c.result.shape.size() == rank;
  return matching ? "" : "one start, step and extent per axis is needed";
}

std::string reshape_error(const Context& c) {
  DimTable dims = c.graph.dims;  // products may be new expressions
  auto before = dims.as_constant(dims.product(c.operand(0).shape)), after = dims.as_constant(dims.product(c.result.shape));
  return before && after && *before != *after ? "the number of elements changed" : "";
}

std::string part_error(const Context& c) {
  const Type& from = c.operand(0);
  std::vector<Dim> shape = from.shape;
  if (c.node.op == Op::parts) shape.push_back(c.result.shape.empty() ? Dim{} : c.result.shape.back());
  if (shape != c.result.shape) return "the shape changed";
  if (c.node.op == Op::parts && !c.graph.dims.is_constant(shape.back(), 2)) return "a complex number has two parts";
  bool matching = dtype_kind(from.dtype) == 'c' && c.result.dtype == part_dtype(from.dtype);
  return matching ? "" : "the operand is complex, the result its part";
}

std::string concatenate_error(const Context& c) {
  if (c.node.operands.empty() || c.attrs.axes.size() != 1) return "operands and one axis are needed";
  int axis = c.attrs.axes[0];
  if (axis < 0 || axis >= c.result.rank()) return "the axis is out of range";
  DimTable dims = c.graph.dims;  // the sum may be a new expression
  Dim total = dims.constant(0);
  for (size_t k = 0; k < c.node.operands.size(); ++k) {
    const Type& part = c.operand(k);
    if (part.dtype != c.result.dtype || part.rank() != c.result.rank()) return "an operand differs in dtype or rank";
    if (without_axes(part.shape, c.attrs.axes) != without_axes(c.result.shape, c.attrs.axes))
      return "an operand differs in shape";
    total = dims.add(total, part.shape[static_cast<size_t>(axis)]);
  }
  return total == c.result.shape[static_cast<size_t>(axis)] ? "" : "the extents do not add up";
}

std::string pointwise_error(const Context& c) {
  bool any_shaped = false;
  for (size_t k = 0; k < c.node.operands.size(); ++k) {
    if (c.operand(k).rank() == 0) continue;
    any_shaped = true;
    if (c.operand(k).shape != c.result.shape) return "an operand has neither rank 0 nor the result's shape";
  }
  if (!any_shaped && c.result.rank() != 0) return "operands of rank 0 give a result of rank 0";
  for (ValueId v : c.node.results) {
    if (c.graph.type(v).shape != c.result.shape) return "the results differ in shape";
  }
  return "";
}

std::string where_error(const Context& c) {
  if (c.operand(0).dtype != DType::bool_) return "the condition is bool";
  if (c.operand(1).dtype != c.result.dtype || c.operand(2).dtype != c.result.dtype)
    return "a choice differs from the result in dtype";
  return pointwise_error(c);
}

bool is_logical(Op op) { return op == Op::logical_and || op == Op::logical_or || op == Op::logical_xor; }

std::string reduce_error(const Context& c) {
  ValueId initial = initial_of(c.graph, c.node), mask = mask_of(c.graph, c.node);
  size_t given = 1 + (initial != no_value) + (mask != no_value);
  if (c.node.operands.size() != given) return "one operand, perhaps an initial value and perhaps a mask are needed";
  const Type& from = c.operand(0);
  if (!are_ascending_axes(c.attrs.axes, from.rank())) return "axes are not ascending";
  if (without_axes(from.shape, c.attrs.axes) != c.result.shape) return "shape and axes disagree";
  const OpInfo& info = op_info(c.attrs.ufunc);
  if (info.op_class != OpClass::pointwise || info.arity != 2 || info.results != 1)
    return "the ufunc has two operands and one result";
  bool same = from.dtype == c.result.dtype || is_logical(c.attrs.ufunc);
  if (!same && !c.attrs.buffered) return "operand and result differ in dtype, so the reduction is buffered";
  if (mask != no_value && (c.graph.type(mask).dtype != DType::bool_ || c.graph.type(mask).shape != from.shape))
    return "the mask is bool and has the operand's shape";
  bool matching = initial == no_value || c.graph.type(initial).dtype == c.result.dtype;
  return matching ? "" : "the initial value is a scalar of the result's dtype";
}

std::string argreduce_error(const Context& c) {
  if (c.attrs.axes.size() != 1 || !are_ascending_axes(c.attrs.axes, c.operand(0).rank())) return "one axis is needed";
  if (c.result.dtype != DType::int64) return "the result is int64";
  return without_axes(c.operand(0).shape, c.attrs.axes) == c.result.shape ? "" : "shape and axis disagree";
}

std::string astype_error(const Context& c) { return c.operand(0).shape == c.result.shape ? "" : "the shape changed"; }

std::string gufunc_error(const Context& c) {
  std::vector<std::vector<int>> signature = core_signature(c.node.op);
  for (size_t k = 0; k < c.node.operands.size(); ++k)
    if (c.operand(k).rank() < static_cast<int>(signature[k].size())) return "the operands have core axes";
  return "";
}

std::string bind_error(const Context& c) {
  if (c.operand(0).rank() != 0 || c.operand(0).dtype != DType::int64) return "the operand is an int64 of rank 0";
  if (c.result.rank() != 0 || c.result.dtype != DType::int64) return "the result is an int64 of rank 0";
  return c.attrs.dims.size() == 1 && c.graph.dims.as_symbol(c.attrs.dims[0]) ? "" : "one symbol is needed";
}

std::string lanes_error(const Context& c) {
  if (c.operand(1).dtype != DType::bool_) return "the mask is bool";
  return c.operand(0).dtype == c.result.dtype ? pointwise_error(c) : "operand and result differ in dtype";
}

std::string copy_error(const Context& c) {
  return c.operand(0).dtype == c.result.dtype ? pointwise_error(c) : "operand and result differ in dtype";
}

std::string overflows_error(const Context& c) {
  char kind = dtype_kind(c.operand(0).dtype);
  bool typed = (kind == 'i' || kind == 'u') && c.operand(0).dtype == c.operand(1).dtype && c.result.dtype == DType::bool_;
  return typed ? pointwise_error(c) : "two integers of one dtype give a bool";
}

// Whether the node's operand `at` is its operand 0 or a chain of views on it.
bool is_view_of_base(const Context& c, size_t at) {
  ValueId v = c.node.operands[at];
  while (v != c.node.operands[0]) {
    if (c.graph.is_input(v) || op_class(c.graph.producer(v).op) != OpClass::view) return false;
    v = c.graph.producer(v).operands[0];
  }
  return true;
}

std::string new_version_error(const Context& c) {
  const Type& base = c.operand(0);
  bool same = base.kind == ValueKind::array && c.result.kind == base.kind && base.dtype == c.result.dtype &&
              base.shape == c.result.shape && base.order == c.result.order;
  return same ? "" : "base and result differ in type";
}

std::string store_error(const Context& c) {
  size_t count = c.node.operands.size();
  if (count < 3 || count > 4) return "base, view, value and perhaps a mask are needed";
  if (!is_view_of_base(c, 1)) return "the view is no chain of views on the base";
  if (c.operand(2).dtype != c.operand(1).dtype || c.operand(2).shape != c.operand(1).shape)
    return "value and view differ in type";
  if (count == 4 && (c.operand(3).dtype != DType::bool_ || c.operand(3).shape != c.operand(1).shape))
    return "the mask is a bool of the view's shape";
  return new_version_error(c);
}

// What is wrong with the indices from operand `first` on, or "". `indexed`: what they select.
std::string indices_error(const Context& c, size_t first, const Type& indexed) {
  size_t count = c.node.operands.size() - first;
  const Type& base = c.operand(0);
  if (c.node.operands.size() <= first || static_cast<int>(count) > base.rank()) return "one index per leading axis is needed";
  std::vector<Dim> shape = c.operand(first).shape;
  for (size_t k = first; k < c.node.operands.size(); ++k) {
    if (c.operand(k).dtype != DType::int64) return "an index is int64";
    if (c.operand(k).shape != shape) return "the indices differ in shape";
  }
  shape.insert(shape.end(), base.shape.begin() + static_cast<std::ptrdiff_t>(count), base.shape.end());
  return indexed.dtype == base.dtype && indexed.shape == shape ? "" : "the indexed value has another type";
}

std::string take_error(const Context& c) { return indices_error(c, 1, c.result); }

std::string update_at_error(const Context& c) {
  if (c.node.operands.size() < 3) return "base, value and indices are needed";
  const OpInfo& info = op_info(c.attrs.ufunc);
  if (info.op_class != OpClass::pointwise || info.arity != 2 || info.results != 1)
    return "the ufunc has two operands and one result";
  std::string what = indices_error(c, 2, c.operand(1));
  return what.empty() ? new_version_error(c) : what;
}

std::string true_indices_error(const Context& c) {
  if (c.operand(0).dtype != DType::bool_) return "the operand is bool";
  return c.result.dtype == DType::int64 && c.result.rank() == 1 ? "" : "the result is int64 of rank 1";
}

std::string accumulate_error(const Context& c) {
  const Type& from = c.operand(0);
  if (c.attrs.axes.size() != 1 || !are_ascending_axes(c.attrs.axes, from.rank())) return "one axis is needed";
  const OpInfo& info = op_info(c.attrs.ufunc);
  if (info.op_class != OpClass::pointwise || info.arity != 2 || info.results != 1)
    return "the ufunc has two operands and one result";
  return from.dtype == c.result.dtype && from.shape == c.result.shape ? "" : "operand and result differ in type";
}

std::string call_error(const Context& c) {
  if (c.attrs.call < 0) return "the function has no number";
  return c.result.rank() == 0 && c.result.dtype == DType::int64 ? "" : "the result is an int64 of rank 0";
}

std::string interrupted_error(const Context& c) {
  return c.result.rank() == 0 && c.result.dtype == DType::bool_ ? "" : "the result is a bool of rank 0";
}

bool is_drawn(const Type& type) { return type.rank() == 0 && (type.dtype == DType::float64 || type.dtype == DType::int64); }

std::string draw_error(const Context& c) {
  if (c.attrs.call < 0) return "the function has no number";
  for (ValueId v : c.node.operands) {
    if (!is_drawn(c.graph.type(v))) return "operands are float64 or int64, of rank 0";
  }
  return is_drawn(c.result) ? "" : "the result is float64 or int64, of rank 0";
}

bool is_of_call(const Context& c, size_t axes) {
  ValueId made = c.node.operands[0];
  return !c.graph.is_input(made) && op_has_call(c.graph.producer(made).op) && c.attrs.axes.size() == axes &&
         c.graph.values[static_cast<size_t>(made)].block == c.graph.values[static_cast<size_t>(c.node.results[0])].block;
}

std::string extent_error(const Context& c) {
  if (!is_of_call(c, 2)) return "a call of this block, a result and an axis are needed";
  return c.result.rank() == 0 && c.result.dtype == DType::int64 ? "" : "the result is an int64 of rank 0";
}

std::string received_error(const Context& c) { return is_of_call(c, 1) ? "" : "a call of this block and a result are needed"; }

std::string add_row_error(const Context& c) {
  Type base = c.operand(0);
  const Type& row = c.operand(1);
  if (base.rank() == 0 || !base.is_c_order()) return "the base has rows, in C order";
  if (row.dtype != base.dtype || row.shape != std::vector<Dim>(base.shape.begin() + 1, base.shape.end()))
    return "the row differs from those of the base";
  DimTable dims = c.graph.dims;  // the sum may be a new expression
  base.shape[0] = dims.add(base.shape[0], dims.constant(1));
  return base == c.result ? "" : "base and result differ in more than a row";
}

std::string drop_row_error(const Context& c) {
  Type base = c.operand(0);
  if (base.rank() == 0 || !base.is_c_order()) return "the base has rows, in C order";
  DimTable dims = c.graph.dims;  // the difference may be a new expression
  base.shape[0] = dims.sub(base.shape[0], dims.constant(1));
  return base == c.result ? "" : "base and result differ in more than a row";
}

std::string put_error(const Context& c) {
  if (c.node.operands.size() < 3) return "base, value and indices are needed";
  std::string what = indices_error(c, 2, c.operand(1));
  return what.empty() ? new_version_error(c) : what;
}

using Rule = std::string (*)(const Context&);

// Rules of single ops; other ops follow their class.
constexpr struct {
  Op op;
  Rule rule;
} op_rules[] = {
    {Op::constant, constant_error},
    {Op::dim, dim_error},
    {Op::full, full_error},
    {Op::arange, arange_error},
    {Op::transpose, transpose_error},
    {Op::expand_dims, expand_dims_error},
    {Op::squeeze, squeeze_error},
    {Op::broadcast_to, broadcast_error},
    {Op::slice, slice_error},
    {Op::reshape, reshape_error},
    {Op::real, part_error},
    {Op::imag, part_error},
    {Op::parts, part_error},
    {Op::concatenate, concatenate_error},
    {Op::where, where_error},
    {Op::astype, astype_error},
    {Op::reduce, reduce_error},
    {Op::argmax, argreduce_error},
    {Op::argmin, argreduce_error},
    {Op::bind, bind_error},
    {Op::copy, copy_error},
    {Op::lanes, lanes_error},
    {Op::store, store_error},
    {Op::put, put_error},
    {Op::add_row, add_row_error},
    {Op::drop_row, drop_row_error},
    {Op::update_at, update_at_error},
    {Op::true_indices, true_indices_error},
    {Op::accumulate, accumulate_error},
    {Op::take, take_error},
    {Op::call, call_error},
    {Op::python_call, call_error},
    {Op::reload, new_version_error},
    {Op::extent, extent_error},
    {Op::received, received_error},
    {Op::draw, draw_error},
    {Op::interrupted, interrupted_error},
    {Op::add_overflows, overflows_error},
    {Op::subtract_overflows, overflows_error},
    {Op::multiply_overflows, overflows_error},
    {Op::int_power_overflows, overflows_error},
};

Rule rule_of(Op op) {
  for (const auto& row : op_rules) {
    if (row.op == op) return row.rule;
  }
  return op_class(op) == OpClass::gufunc ? gufunc_error : pointwise_error;
}

bool preserves_dtype(Op op) { return op_class(op) == OpClass::view && op != Op::real && op != Op::imag && op != Op::parts; }

}  // namespace

std::string type_error(const Graph& graph, const Type& type) {
  if (type.kind != ValueKind::array && type.rank() != 0) return "a scalar has rank 0";
  if (!type.order.empty() && !is_permutation_of_axes(type.order, type.rank())) return "the order is no permutation";
  for (Dim d : type.shape) {
    if (!is_entry_dim(graph, d)) return "a dim is no expression over the entry's symbols";
  }
  return "";
}

std::string input_error(const Graph& graph, const Input& input, const Type& type) {
  if (type.kind != ValueKind::array) {
    int slots = dtype_kind(type.dtype) == 'c' ? 2 : 1;
    bool fits = input.slot >= 0 && static_cast<size_t>(input.slot + slots) <= graph.symbols.size();
    return fits ? "" : "the slot of a scalar is out of range";
  }
  if (input.layout == Layout::dense) return "";
  if (input.strides.size() != type.shape.size()) return "one stride per axis is needed";
  for (Dim d : input.strides) {
    if (!is_entry_dim(graph, d)) return "a stride is no expression over the entry's symbols";
  }
  return "";
}

std::string node_error(const Graph& graph, const Node& node) {
  const OpInfo& info = op_info(node.op);
  if (info.arity >= 0 && static_cast<int>(node.operands.size()) != info.arity) return "wrong number of operands";
  if (info.arity < 0 && node.operands.empty() && !op_has_call(node.op)) return "an operand is needed";
  for (const auto* dims : {&node.attrs.dims, &node.attrs.steps}) {
    for (Dim d : *dims) {
      if (!is_entry_dim(graph, d)) return "a dim is no expression over the entry's symbols";
    }
  }
  const Type& result = graph.type(node.results[0]);
  if (preserves_dtype(node.op) && graph.type(node.operands[0]).dtype != result.dtype) return "a view keeps the dtype";
  return rule_of(node.op)({graph, node, node.attrs, result});
}

}  // namespace accel
