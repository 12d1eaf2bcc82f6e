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
  if (!value.array.path.empty() || !value.keys.empty()) return std::nullopt;
  const Storage storage = state.of(value.array.storage);
  if (storage.maybe || !value.array.writeable || value.array.lens.shape.empty()) return std::nullopt;
  Type type = capture.graph().type(capture.known_contents(storage));
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

namespace {

// An index that is counted from the start.
Dim from_start(Capture& capture, Dim at, Dim length) {
  DimTable& dims = capture.dims();
  Dim zero = dims.constant(0), wrapped = dims.add(at, length);
  bool known = capture.knows(at) || capture.knows(dims.sub(dims.constant(-1), at));
  if (known || !capture.is_runtime(at) || !capture.assume_fits(wrapped))
    return capture.decide(at, Comparison::lt, zero) ? wrapped : at;
  Builder& build = capture.build();
  ValueId negative = capture.compare_at_run_time({at, zero, Comparison::lt}, ValueKind::py_scalar);
  std::vector<ValueId> choices = {negative, build.dim(wrapped), build.dim(at)};
  ValueId chosen = build.pointwise(Op::where, std::move(choices), {DType::int64}, ValueKind::py_scalar);
  return capture.bind_dim(chosen, "index", 0, -9.3e18, 9.3e18);
}

// Where an index is among the rows, to which all items belong from now on. Compiled code leaves where Python raises.
Result<Dim> row_at(Capture& capture, const Ref& list, const Ref& index) {
  DimTable& dims = capture.dims();
  if (list->scalar.kind == ValueKind::array)
    return fail(Reason::unsupported_value, "an array of a list whose length is known at run time only");
  ACCEL_TRY(Dim at, read_dim(capture, index));
  Dim length = length_of(capture, list), zero = dims.constant(0);
  at = from_start(capture, at, length);
  const char* detail = "list index out of range";
  ACCEL_TRY([[maybe_unused]] Unit low, require_at_least(capture, at, zero, Reason::will_raise, detail));
  ACCEL_TRY([[maybe_unused]] Unit high,
            require_at_least(capture, length, dims.add(at, dims.constant(1)), Reason::will_raise, detail));
  ACCEL_TRY([[maybe_unused]] Unit settled, settle(capture, list));
  return at;
}

// The number of an item among those that were appended since, from the end.
std::optional<size_t> known_place(Capture& capture, const Ref& list, const Ref& index) {
  std::optional<Dim> at = known_dim(capture, index);
  std::optional<int64_t> known = at ? capture.dims().as_constant(*at) : std::nullopt;
  auto count = static_cast<int64_t>(list->items.size());
  if (!known || *known >= 0 || *known < -count) return std::nullopt;
  return static_cast<size_t>(count + *known);
}

Status require_index(const Ref& index) {
  bool number = index->kind == AbstractKind::scalar || index->kind == AbstractKind::constant;
  if (number) return Unit{};
  return fail(Reason::unsupported_value, "such an index of a list whose length is known at run time only");
}

// A copy of the rows that a slice picks.
Result<ValueId> rows_in(Capture& capture, const Ref& list, const Ref& slice) {
  if (list->scalar.kind == ValueKind::array)
    return fail(Reason::unsupported_value, "arrays of a list whose length is known at run time only");
  ACCEL_TRY(ValueId rows, all_rows(capture, list));
  ACCEL_TRY(Ref part, get_item(capture, capture.fresh_array(rows), slice));
  return capture.build().copy(capture.read(part));
}

}  // namespace

Result<Ref> item_of_grown(Capture& capture, const Ref& list, const Ref& index) {
  ACCEL_TRY([[maybe_unused]] Unit number, require_index(index));
  if (auto place = known_place(capture, list, index)) return list->items[*place];
  ACCEL_TRY(Dim at, row_at(capture, list, index));
  ValueId rows = list->array.storage->current;
  return capture.scalar(capture.build().take(rows, {capture.build().dim(at)}, list->scalar.kind));
}

Result<Ref> slice_of_grown(Capture& capture, const Ref& list, const Ref& slice) {
  ACCEL_TRY(ValueId rows, rows_in(capture, list, slice));
  Ref out = capture.list({});
  make_grown(capture, out, row_type(*list));
  set_rows(capture, out, rows);
  return out;
}

Status reverse_grown(Capture& capture, const Ref& list) {
  PyRef backwards = PyRef::steal(PyLong_FromLong(-1));
  PyRef slice = PyRef::steal(PySlice_New(nullptr, nullptr, backwards.get()));
  ACCEL_TRY(ValueId rows, rows_in(capture, list, capture.constant(slice.get())));
  list->items.clear();
  set_rows(capture, list, rows);
  return Unit{};
}

Status store_to_grown(Capture& capture, const Ref& list, const Ref& index, const Ref& value) {
  ACCEL_TRY([[maybe_unused]] Unit number, require_index(index));
  if (auto place = known_place(capture, list, index)) {
    list->items[*place] = value;
    return Unit{};
  }
  capture.look(value);
  if (list->scalar.kind == ValueKind::array || !has_type(capture, value, row_type(*list)))
    return fail(Reason::unsupported_value, "a store of another type into a list whose length is known at run time only");
  ACCEL_TRY(Dim at, row_at(capture, list, index));
  ACCEL_TRY(ValueId row, capture.scalar_value(value));
  ValueId rows = list->array.storage->current;
  set_rows(capture, list, capture.build().put(rows, row, {capture.build().dim(at)}));
  return Unit{};
}

Ref list_of_number(Capture& capture, const Ref& number, Dim count) {
  DimTable& dims = capture.dims();
  Ref list = capture.list({});
  make_grown(capture, list, *number_type(*number));
  Dim length = capture.prove(count) ? count : dims.max(count, dims.constant(0));
  set_rows(capture, list, capture.build().full(capture.scalar_value(number).value(), {length}));
  return list;
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
