// Advanced indexing with masks and integer arrays. The array is transposed so that the consumed axes lead; afterwards the
// selected axes are moved to where NumPy's rules have them in the result.

#include "capture/numpy/arrays/advanced_index.h"

#include <algorithm>
#include <numeric>

#include "capture/numpy/arrays/creation.h"
#include "capture/numpy/arrays/selection.h"
#include "capture/numpy/arrays/views.h"
#include "capture/protocol/arguments.h"
#include "capture/protocol/masked_selection.h"
#include "capture/protocol/numpy_calls.h"
#include "capture/protocol/ufunc_calls.h"

namespace accel {

namespace {

bool is_unsigned_below_int64(DType dtype) { return dtype_kind(dtype) == 'u' && dtype != DType::uint64; }

ValueId int_constant(Capture& capture, int64_t value) {
  return capture.build().constant(Literal::of_int(DType::int64, value), ValueKind::numpy_scalar);
}

ValueId dim_value(Capture& capture, Dim d) { return capture.build().dim(d, ValueKind::numpy_scalar); }

ValueId combined(Capture& capture, Op op, ValueId a, ValueId b, DType dtype) {
  return capture.build().pointwise(op, {a, b}, {dtype}, capture.graph().type(a).kind, capture.graph().type(a).order);
}

// The smallest and largest element of an index that is made of constants.
struct Written {
  int64_t low = 0, high = 0;
};

bool collect(Capture& capture, ValueId value, std::optional<Written>& out) {
  const Graph& graph = capture.graph();
  if (graph.is_input(value)) return false;
  const Node& node = graph.producer(value);
  switch (node.op) {
    case Op::constant: {
      if (dtype_kind(node.attrs.literal.dtype) != 'i') return false;
      int64_t element = node.attrs.literal.as_int();
      out = out ? Written{std::min(out->low, element), std::max(out->high, element)} : Written{element, element};
      return true;
    }
    case Op::concatenate:
    case Op::full:
    case Op::reshape:
    case Op::expand_dims:
    case Op::broadcast_to:
    case Op::astype:
    case Op::copy:
      return std::all_of(node.operands.begin(), node.operands.end(), [&](ValueId v) { return collect(capture, v, out); });
    default:
      return false;
  }
}

// Whether the extent covers every element from `low` to `high`.
bool covers(Capture& capture, Dim extent, const Written& written) {
  DimTable& dims = capture.dims();
  bool above = written.high < 0 || capture.facts().decide(extent, Comparison::gt, dims.constant(written.high));
  bool below = written.low >= 0 || capture.facts().decide(extent, Comparison::ge, dims.constant(-written.low));
  return above && below;
}

ValueId wrapped(Capture& capture, ValueId index, Dim extent) {
  ValueId from_end = combined(capture, Op::add, index, dim_value(capture, extent), DType::int64);
  ValueId negative = combined(capture, Op::less, index, int_constant(capture, 0), DType::bool_);
  const Type type = capture.graph().type(index);
  return capture.build().pointwise(Op::where, {negative, from_end, index}, {DType::int64}, type.kind, type.order);
}

ValueId holds_everywhere(Capture& capture, ValueId condition) {
  std::vector<int> axes(capture.graph().type(condition).shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (axes.empty()) return condition;
  return capture.build().reduce(Op::logical_and, condition, axes, DType::bool_, no_value, false, ValueKind::numpy_scalar);
}

}  // namespace

Result<CheckedIndex> checked_index(Capture& capture, const Ref& index, Dim extent) {
  ACCEL_TRY(Operand operand, read_operand(capture, index));
  ACCEL_TRY(ValueId value, operand_value(capture, operand, DType::int64));
  std::optional<Written> written;
  if (collect(capture, value, written)) {
    if (!written) return CheckedIndex{value, no_value};
    if (!covers(capture, extent, *written)) return fail(Reason::will_raise, "an index is out of bounds");
    return CheckedIndex{written->low < 0 ? wrapped(capture, value, extent) : value, no_value};
  }
  ValueId end = dim_value(capture, extent);
  ValueId in_range = combined(capture, Op::less, value, end, DType::bool_);
  if (is_unsigned_below_int64(operand.type.dtype)) return CheckedIndex{value, holds_everywhere(capture, in_range)};
  DimTable& dims = capture.dims();
  ValueId start = dim_value(capture, dims.sub(dims.constant(0), extent));
  ValueId above_start = combined(capture, Op::greater_equal, value, start, DType::bool_);
  in_range = combined(capture, Op::logical_and, in_range, above_start, DType::bool_);
  return CheckedIndex{wrapped(capture, value, extent), holds_everywhere(capture, in_range)};
}

Status require_all(Capture& capture, const std::vector<ValueId>& conditions, const char* what) {
  ValueId all = no_value;
  for (ValueId condition : conditions) {
    if (condition == no_value) continue;
    all = all == no_value ? condition : combined(capture, Op::logical_and, all, condition, DType::bool_);
  }
  return all == no_value ? Status(Unit{}) : capture.require(all, Reason::will_raise, what, true);
}

Ref moved_back(Capture& capture, const Ref& array, int fancy, int first) {
  std::vector<int> axes(layout_of(array).shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  std::rotate(axes.begin(), axes.begin() + fancy, axes.begin() + fancy + first);
  return transposed_view(capture, array, axes);
}

namespace {

// The positions of an equal mask if the current block has computed them already.
std::optional<ValueId> listed(Capture& capture, ValueId mask) {
  const Graph& graph = capture.graph();
  const std::vector<NodeId>& nodes = graph.blocks[static_cast<size_t>(capture.build().block())].nodes;
  for (size_t k = nodes.size(); k-- > 0;) {
    const Node& node = graph.nodes[static_cast<size_t>(nodes[k])];
    if (node.op == Op::true_indices && is_same_value(graph, node.operands[0], mask)) return node.results[0];
  }
  return std::nullopt;
}

ValueId list_true(Capture& capture, ValueId mask) {
  const std::vector<Dim> shape = capture.graph().type(mask).shape;
  ValueId count = count_true(capture, mask);
  Dim all = element_count(capture, shape);
  Dim number = capture.facts().bind_dim(count, "nonzero", capture.ranges().hint(all) / 2, 0, capture.ranges().high(all));
  capture.facts().all().push_back(capture.dims().sub(all, number));
  return capture.build().true_indices(mask, number);
}

}  // namespace

ValueId count_true(Capture& capture, ValueId mask) {
  std::vector<int> axes(capture.graph().type(mask).shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  ValueId ones = capture.values().astype(mask, DType::int64);
  return capture.build().reduce(Op::add, ones, axes, DType::int64, no_value, false, ValueKind::numpy_scalar);
}

Result<std::vector<ValueId>> nonzero_places(Capture& capture, ValueId mask) {
  std::optional<ValueId> known = listed(capture, mask);
  ValueId position = known ? *known : list_true(capture, mask);
  const std::vector<Dim> shape = capture.graph().type(mask).shape;
  std::vector<ValueId> places(shape.size(), position);
  for (size_t k = shape.size(); k-- > 1;) {
    ValueId extent = dim_value(capture, shape[k]);
    places[k] = combined(capture, Op::remainder, places[k - 1], extent, DType::int64);
    ValueId rest = combined(capture, Op::floor_divide, places[k - 1], extent, DType::int64);
    for (size_t before = 0; before < k; ++before) places[before] = rest;
  }
  return places;
}

// NumPy's limit on the operands of an iterator, less one for the result.
constexpr size_t most_index_arrays = 63;

Result<Selection> select(Capture& capture, const Ref& array, const std::vector<IndexPart>& parts) {
  Selection out;
  bool whole = std::all_of(parts.begin(), parts.end(),
                           [](const IndexPart& part) { return is_advanced(part) || part.kind == IndexKind::ellipsis; });
  size_t arrays = 0;
  for (const IndexPart& part : parts) {
    if (is_advanced(part)) arrays += static_cast<size_t>(std::max(part.axes, 1));
    arrays += part.kind == IndexKind::integer;
  }
  if (arrays > most_index_arrays) return fail(Reason::will_raise, "too many index arrays");
  out.view = array;
  if (!whole) {
    ACCEL_TRY(out.view, basic_view(capture, array, parts));
  }
  enum class Run : uint8_t { none, open, closed, split } run = Run::none;
  int at = 0;
  for (const IndexPart& part : parts) {
    bool together = is_advanced(part) || part.kind == IndexKind::integer;
    if (together && run == Run::none) {
      out.first = static_cast<int>(out.others.size());
      run = Run::open;
    } else if (together && run == Run::closed) {
      out.first = 0;
      run = Run::split;
    } else if (!together && run == Run::open) {
      run = Run::closed;
    }
    out.plain = out.plain && is_advanced(part);
    if (is_advanced(part)) out.parts.push_back(part);
    int count = part.kind == IndexKind::integer ? 0 : part.kind == IndexKind::newaxis ? 1 : part.axes;
    for (int k = 0; k < count; ++k) (is_advanced(part) ? out.taken : out.others).push_back(at++);
  }
  return out;
}

namespace {

Status check_mask(Capture& capture, const Selection& selection, const Ref& mask, size_t at) {
  const std::vector<Dim>& shape = layout_of(mask).shape;
  for (size_t k = 0; k < shape.size(); ++k) {
    Dim extent = layout_of(selection.view).shape[static_cast<size_t>(selection.taken[at + k])];
    if (!capture.facts().expect_equal(shape[k], extent))
      return fail(Reason::will_raise, "boolean index did not match indexed array");
  }
  return Unit{};
}

// The axes that no advanced part consumes, from slowest to fastest in memory.
std::vector<int> order_of_others(Capture& capture, const Selection& selection) {
  std::vector<uint8_t> order = stride_order(capture, selection.view);
  if (order.empty()) return selection.others;
  std::vector<int> out;
  for (uint8_t axis : order) {
    if (std::find(selection.others.begin(), selection.others.end(), axis) != selection.others.end()) out.push_back(axis);
  }
  return out;
}

// --- masks ----------------------------------------------------------------------------------------------------------------

}  // namespace

bool is_one_mask(const Selection& selection) {
  return selection.parts.size() == 1 && selection.parts[0].kind == IndexKind::mask;
}

Ref masked_view(Capture& capture, const Selection& selection) {
  std::vector<int> axes = selection.others;
  axes.insert(axes.begin() + selection.first, selection.taken.begin(), selection.taken.end());
  return std::is_sorted(axes.begin(), axes.end()) ? selection.view : transposed_view(capture, selection.view, axes);
}

Result<Predicate> predicate_of(Capture& capture, const Selection& selection) {
  const Ref& mask = selection.parts[0].ref;
  ACCEL_TRY([[maybe_unused]] Unit matching, check_mask(capture, selection, mask, 0));
  return Predicate{capture.memory().read(mask), selection.first, selection.parts[0].axes, true};
}

namespace {

Result<Ref> select_by_mask(Capture& capture, const Selection& selection) {
  ACCEL_TRY(Predicate predicate, predicate_of(capture, selection));
  Ref view = masked_view(capture, selection);
  const std::vector<Dim> shape = layout_of(view).shape;
  ValueId value = capture.build().lanes(capture.memory().read(view), spread_mask(capture, predicate, shape));
  return masked_selection_array(capture, value, predicate);
}

// --- integer arrays -------------------------------------------------------------------------------------------------------

}  // namespace

Result<Indices> read_indices(Capture& capture, const Selection& selection) {
  Indices out;
  std::vector<ValueId> conditions;
  std::vector<std::vector<Dim>> shapes;
  size_t at = 0;
  for (const IndexPart& part : selection.parts) {
    if (part.kind == IndexKind::mask) {
      ACCEL_TRY([[maybe_unused]] Unit matching, check_mask(capture, selection, part.ref, at));
      ACCEL_TRY(std::vector<ValueId> places, nonzero_places(capture, capture.memory().read(part.ref)));
      for (ValueId place : places) {
        out.values.push_back(place);
        out.operands.push_back(*as_operand(capture, capture.values().fresh_array(place)));
      }
    } else {
      Dim extent = layout_of(selection.view).shape[static_cast<size_t>(selection.taken[at])];
      ACCEL_TRY(CheckedIndex checked, checked_index(capture, part.ref, extent));
      out.values.push_back(checked.index);
      out.operands.push_back(*as_operand(capture, part.ref));
      conditions.push_back(checked.in_range);
    }
    at += static_cast<size_t>(part.axes);
  }
  for (const Operand& operand : out.operands) shapes.push_back(operand.shape);
  ACCEL_TRY(out.shape, broadcast_shapes(capture, shapes));
  ACCEL_TRY([[maybe_unused]] Unit checked, require_all(capture, conditions, "an index is out of bounds"));
  for (ValueId& value : out.values) value = broadcast_value(capture, value, out.shape);
  return out;
}

Result<std::vector<uint8_t>> order_of_indices(Capture& capture, const Selection& selection,
                                              const std::vector<Operand>& operands, const std::vector<Dim>& shape) {
  if (shape.size() < 2) return std::vector<uint8_t>{};
  std::vector<uint8_t> order = result_order(capture, operands, shape);
  if (order.empty() || selection.plain) return order;
  std::vector<Dim> rest;
  for (int axis : selection.others) rest.push_back(layout_of(selection.view).shape[static_cast<size_t>(axis)]);
  return is_one(capture, element_count(capture, rest)) ? order : std::vector<uint8_t>{};
}

namespace {

Result<Ref> gather(Capture& capture, const Selection& selection) {
  ACCEL_TRY(Indices indices, read_indices(capture, selection));
  ACCEL_TRY(std::vector<uint8_t> order, order_of_indices(capture, selection, indices.operands, indices.shape));
  auto fancy = static_cast<int>(indices.shape.size());
  std::vector<int> axes = selection.taken, others = selection.others;
  axes.insert(axes.end(), others.begin(), others.end());
  ValueId base = capture.memory().read(selection.view);
  if (!std::is_sorted(axes.begin(), axes.end())) base = capture.build().transpose(base, axes);
  if (order.empty())
    for (int k = 0; k < fancy; ++k) order.push_back(static_cast<uint8_t>(k));
  for (int axis : order_of_others(capture, selection)) {
    auto found = std::find(others.begin(), others.end(), axis);
    order.push_back(static_cast<uint8_t>(fancy + (found - others.begin())));
  }
  ValueId value = capture.build().take(base, indices.values);
  if (!std::is_sorted(order.begin(), order.end())) capture.graph().values[static_cast<size_t>(value)].type.order = order;
  Ref out = capture.values().fresh_array(value);
  return selection.first > 0 ? moved_back(capture, out, fancy, selection.first) : out;
}

}  // namespace

Result<Ref> advanced_getitem(Capture& capture, const Ref& array, const std::vector<IndexPart>& parts) {
  ACCEL_TRY(Selection selection, select(capture, array, parts));
  bool lanes = is_one_mask(selection) && order_of_others(capture, selection) == selection.others;
  return lanes ? select_by_mask(capture, selection) : gather(capture, selection);
}

}  // namespace accel
