#include "capture/protocol/masked_selection.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "capture/context/descent.h"
#include "capture/numpy/arrays/advanced_index.h"
#include "capture/numpy/arrays/views.h"
#include "capture/protocol/arguments.h"

namespace accel {

namespace {

constexpr int deepest_comparison = 16;

bool is_same(const Graph& graph, ValueId a, ValueId b, int depth) {
  if (a == b) return true;
  if (depth == 0 || graph.is_input(a) || graph.is_input(b) || graph.type(a) != graph.type(b)) return false;
  const Node &left = graph.producer(a), &right = graph.producer(b);
  bool alike = left.op == right.op && left.attrs == right.attrs && left.operands.size() == right.operands.size() &&
               left.results.size() == 1 && right.results.size() == 1 && op_class(left.op) != OpClass::update;
  for (size_t k = 0; alike && k < left.operands.size(); ++k)
    alike = is_same(graph, left.operands[k], right.operands[k], depth - 1);
  return alike;
}

int rank_after_mask(const Predicate& predicate, const std::vector<Dim>& shape) {
  return static_cast<int>(shape.size()) - predicate.first - predicate.rank;
}

// Whether an operand of a pointwise operation broadcasts only along the axes after the mask's.
bool aligns_after_mask(Capture& capture, const Ref& value, const Predicate& predicate, const std::vector<Dim>& shape) {
  auto operand = as_operand(capture, value);
  if (!operand) return false;
  if (!operand->is_array() || operand->shape.empty()) return true;
  auto rank = static_cast<int>(operand->shape.size());
  // With more axes its memory order could change the order of the result.
  if (rank > 1 || rank > rank_after_mask(predicate, shape)) return false;
  return capture.ranges().hint(operand->shape[0]) == 1 ||
         capture.ranges().hint(operand->shape[0]) == capture.ranges().hint(shape.back());
}

}  // namespace

bool is_same_value(const Graph& graph, ValueId a, ValueId b) { return is_same(graph, a, b, deepest_comparison); }

bool is_same_predicate(const Graph& graph, const Predicate& a, const Predicate& b) {
  return a.first == b.first && a.rank == b.rank && is_same_value(graph, a.mask, b.mask);
}

Ref masked_selection_array(Capture& capture, ValueId value, const Predicate& predicate) {
  Ref out = capture.values().fresh_array(value);
  make_masked_selection(out, predicate);
  out->predicate.view = predicate.view;
  return out;
}

void make_masked_selection(const Ref& array, const Predicate& predicate) {
  array->kind = AbstractKind::masked_selection;
  array->predicate = predicate;
  array->predicate.view = false;
}

ValueId spread_mask(Capture& capture, const Predicate& predicate, const std::vector<Dim>& shape) {
  ValueId mask = predicate.mask;
  std::vector<int> later_axes(static_cast<size_t>(rank_after_mask(predicate, shape)));
  std::iota(later_axes.begin(), later_axes.end(), predicate.rank);
  std::vector<Dim> own(shape.begin() + predicate.first, shape.begin() + predicate.first + predicate.rank);
  mask = with_shape(capture, mask, own);
  if (!later_axes.empty()) mask = capture.build().expand_dims(mask, later_axes);
  return capture.build().broadcast_to(mask, shape);
}

Status check_materialisable(const AbstractValue& value) {
  if (value.predicate.first == 0 || value.predicate.view) return Unit{};
  return fail(Reason::unsupported_layout, "the memory order of an array computed under a mask behind other axes");
}

Status materialise(Capture& capture, const Ref& value) {
  if (!is_masked_selection(value)) return Unit{};
  ACCEL_TRY([[maybe_unused]] Unit possible, check_materialisable(*value));
  const Predicate predicate = value->predicate;
  Graph& graph = capture.graph();
  ValueId whole = capture.memory().read(value);
  bool selected = !graph.is_input(whole) && graph.producer(whole).op == Op::lanes;
  if (selected) whole = graph.producer(whole).operands[0];
  auto rank = static_cast<int>(graph.type(whole).shape.size());
  std::vector<int> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  std::rotate(axes.begin(), axes.begin() + predicate.first, axes.begin() + predicate.first + predicate.rank);
  ACCEL_TRY(std::vector<ValueId> places, nonzero_places(capture, predicate.mask));
  if (predicate.first > 0) whole = capture.build().transpose(whole, axes);
  Ref gathered = capture.values().fresh_array(capture.build().take(whole, places));
  if (predicate.first > 0) gathered = moved_back(capture, gathered, 1, predicate.first);
  value->kind = AbstractKind::array;
  value->array = gathered->array;
  return Unit{};
}

namespace {

Status materialise_once(Capture& capture, const Ref& value, std::set<const AbstractValue*>& seen) {
  if (!value || !seen.insert(value.get()).second) return Unit{};
  const Descent level;
  if (value->kind == AbstractKind::tuple || value->kind == AbstractKind::list) {
    for (const Ref& item : value->items) {
      ACCEL_TRY([[maybe_unused]] Unit done, materialise_once(capture, item, seen));
    }
  }
  return materialise(capture, value);
}

}  // namespace

Status materialise_deep(Capture& capture, const Ref& value) {
  std::set<const AbstractValue*> seen;
  return materialise_once(capture, value, seen);
}

const Predicate* common_predicate(Capture& capture, const std::vector<Ref>& operands, const std::vector<Ref>& outs) {
  const AbstractValue* chosen = nullptr;
  for (const auto* values : {&operands, &outs}) {
    for (const Ref& value : *values) {
      if (!is_masked_selection(value)) continue;
      if (!chosen) chosen = value.get();
      if (!is_same_predicate(capture.graph(), chosen->predicate, value->predicate)) return nullptr;
      if (value->array.layout.shape != chosen->array.layout.shape) return nullptr;
    }
  }
  if (!chosen || !std::all_of(outs.begin(), outs.end(), is_masked_selection)) return nullptr;
  const std::vector<Dim>& shape = chosen->array.layout.shape;
  bool aligned = std::all_of(operands.begin(), operands.end(), [&](const Ref& value) {
    return is_masked_selection(value) || aligns_after_mask(capture, value, chosen->predicate, shape);
  });
  return aligned ? &chosen->predicate : nullptr;
}

int visible_rank(const Operand& operand) {
  auto rank = static_cast<int>(operand.shape.size());
  return is_masked_selection(operand.ref) ? rank - operand.ref->predicate.rank + 1 : rank;
}

Result<Operand> read_lanes(Capture& capture, const Ref& value) {
  if (!is_masked_selection(value)) return read_operand(capture, value);
  const StridedLayout& layout = layout_of(value);
  return Operand{value, {OperandType::Kind::array, layout.dtype}, layout.shape};
}

}  // namespace accel
