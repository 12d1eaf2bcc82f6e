#include "capture/grown_lists.h"

#include <algorithm>

#include "capture/dense_strides.h"
#include "capture/numpy_arguments.h"
#include "capture/numpy_operands.h"
#include "capture/path_state.h"
#include "capture/semantics.h"
#include "capture/state_match.h"

namespace accel {

namespace {

void set_rows(Capture& capture, const Ref& list, ValueId rows) {
  ArrayState& array = list->array;
  const Type& type = capture.graph().type(rows);
  array.storage->current = rows;
  ++array.storage->version;
  array.lens = {type.shape, dense_strides(capture.dims(), type.shape, {}, type.dtype), capture.dims().constant(0), type.dtype};
}

Result<ValueId> row_of(Capture& capture, const Ref& item) {
  if (item->kind == AbstractKind::array) return capture.read(item);
  return capture.scalar_value(item);
}

bool has_type(Capture& capture, const Ref& item, const Type& row) {
  if (item->kind != AbstractKind::array) return number_type(*item) == row;
  const Lens& lens = item->array.lens;
  return row.kind == ValueKind::array && lens.dtype == row.dtype && lens.shape == row.shape &&
         capture.graph().type(capture.read(item)).is_c_order();
}

// Rows for all items, as they are now. Changes nothing.
Result<ValueId> all_rows(Capture& capture, const Ref& list) {
  ValueId rows = list->array.storage->current;
  const Type row = row_type(*list);
  for (const Ref& item : list->items) {
    capture.look(item);
    if (!has_type(capture, item, row)) return fail(Reason::unsupported_value, "a list of items of several types");
    ACCEL_TRY(ValueId value, row_of(capture, item));
    rows = capture.build().add_row(rows, value);
  }
  return rows;
}

// Compiled code goes on where left >= right only.
Status require_at_least(Capture& capture, Dim left, Dim right, Reason reason, const char* detail) {
  if (capture.prove(capture.dims().sub(left, right))) return Unit{};
  Relation relation{left, right, Comparison::ge};
  ValueId holds = capture.compare_at_run_time(relation, ValueKind::py_scalar);
  ACCEL_TRY([[maybe_unused]] Unit required, capture.require(holds, reason, detail));
  capture.assume(relation);
  return Unit{};
}

// What NumPy makes of an empty list has another shape or dtype.
Status require_items(Capture& capture, const Ref& list) {
  return require_at_least(capture, length_of(capture, list), capture.dims().constant(1), Reason::assumption_failed,
                          "an array of an empty list");
}

// Whether numbers of the one dtype become those of the other one by one as arrays of them do.
bool casts_alike(DType from, DType to) {
  if (from == to) return true;
  char kind = dtype_kind(from), wanted = dtype_kind(to);
  if (kind == 'f') return wanted == 'f' || wanted == 'c';
  return (kind == 'b' || kind == 'i' || kind == 'u') && (to == DType::float64 || to == DType::complex128);
}

}  // namespace

std::optional<Type> row_type(Capture& capture, const PathState& state, const Ref& item) {
  const AbstractValue& value = state.of(item);
  if (value.kind != AbstractKind::array) return number_type(value);
  if (value.source >= 0 || value.array.storage->source >= 0 || !value.array.path.empty() || !value.keys.empty())
    return std::nullopt;
  const Storage storage = state.of(value.array.storage);
  if (storage.maybe || !value.array.writeable || value.array.lens.shape.empty()) return std::nullopt;
  Type type = capture.graph().type(storage.current);
  if (!type.is_c_order()) return std::nullopt;
  return Type{ValueKind::array, type.dtype, type.shape, {}};
}

Type row_type(const AbstractValue& list) {
  const std::vector<Dim>& shape = list.array.lens.shape;
  return {list.scalar.kind, list.scalar.dtype, {shape.begin() + 1, shape.end()}, {}};
}

void make_grown(Capture& capture, const Ref& list, const Type& row) {
  list->kind = AbstractKind::grown;
  list->scalar.kind = row.kind;
  list->scalar.dtype = row.dtype;
  list->array = {};
  list->array.storage = std::make_shared<Storage>();
  std::vector<Dim> shape = row.shape;
  shape.insert(shape.begin(), capture.dims().constant(0));
  Builder& build = capture.build();
  Literal zero{row.dtype, {0, 0}};
  set_rows(capture, list, build.full(build.constant(zero, ValueKind::numpy_scalar), std::move(shape)));
}

Status settle(Capture& capture, const Ref& list) {
  ACCEL_TRY(ValueId rows, all_rows(capture, list));
  list->items.clear();
  set_rows(capture, list, rows);
  return Unit{};
}

Dim length_of(Capture& capture, const Ref& list) {
  return capture.dims().add(list->array.lens.shape[0], capture.dims().constant(static_cast<int64_t>(list->items.size())));
}

Result<Ref> item_of_grown(Capture& capture, const Ref& list, const Ref& index) {
  DimTable& dims = capture.dims();
  if (index->kind != AbstractKind::scalar && index->kind != AbstractKind::constant)
    return fail(Reason::unsupported_value, "a slice of a list whose length is known at run time only");
  ACCEL_TRY(Dim at, read_dim(capture, index));
  auto last = static_cast<int64_t>(list->items.size());
  std::optional<int64_t> known = dims.as_constant(at);
  if (known && *known < 0 && *known >= -last) return list->items[static_cast<size_t>(last + *known)];
  if (list->scalar.kind == ValueKind::array)
    return fail(Reason::unsupported_value, "an array of a list whose length is known at run time only");
  Dim length = length_of(capture, list), zero = dims.constant(0);
  if (capture.decide(at, Comparison::lt, zero)) at = dims.add(at, length);
  const char* detail = "list index out of range";
  ACCEL_TRY([[maybe_unused]] Unit low, require_at_least(capture, at, zero, Reason::will_raise, detail));
  ACCEL_TRY([[maybe_unused]] Unit high,
            require_at_least(capture, length, dims.add(at, dims.constant(1)), Reason::will_raise, detail));
  ACCEL_TRY([[maybe_unused]] Unit settled, settle(capture, list));
  ValueId rows = list->array.storage->current;
  return capture.scalar(capture.build().take(rows, {capture.build().dim(at)}, list->scalar.kind));
}

Result<Ref> array_of_grown(Capture& capture, const Ref& list, std::optional<DType> dtype) {
  DType own = list->scalar.dtype, wanted = dtype.value_or(own);
  if (!casts_alike(own, wanted)) return fail(Reason::unsupported_dtype, "an array of a list by a cast");
  bool same_when_empty = list->scalar.kind != ValueKind::array && (dtype || own == DType::float64);
  if (!same_when_empty) {
    ACCEL_TRY([[maybe_unused]] Unit some, require_items(capture, list));
  }
  ACCEL_TRY(ValueId rows, all_rows(capture, list));
  ValueId cast = capture.astype(rows, wanted);
  return capture.fresh_array(cast == rows ? capture.build().copy(rows) : cast);
}

Result<Ref> concatenated_items(Capture& capture, const Ref& list) {
  if (list->scalar.kind != ValueKind::array) return fail(Reason::will_raise, "zero-dimensional arrays cannot be concatenated");
  ACCEL_TRY([[maybe_unused]] Unit some, require_items(capture, list));
  ACCEL_TRY(ValueId rows, all_rows(capture, list));
  std::vector<Dim> shape = capture.graph().type(rows).shape;
  shape[1] = capture.dims().mul(shape[0], shape[1]);
  shape.erase(shape.begin());
  return capture.fresh_array(capture.build().copy(capture.build().reshape(rows, std::move(shape))));
}

}  // namespace accel
