#include "capture/python/containers/dynamic_lists.h"

#include <algorithm>

#include "capture/context/descent.h"
#include "capture/domain/dense_strides.h"
#include "capture/domain/number_type.h"
#include "capture/protocol/arguments.h"
#include "capture/protocol/operands.h"
#include "capture/protocol/operations.h"
#include "ndarray/casts.h"

namespace accel {

namespace {

void set_rows(Capture& capture, const Ref& list, ValueId rows) {
  ArrayState& array = list->array;
  const Type& type = capture.graph().type(rows);
  array.storage->current = rows;
  ++array.storage->version;
  array.layout = {type.shape, dense_strides(capture.dims(), type.shape, {}, type.dtype), capture.dims().constant(0),
                  type.dtype};
}

// The graph value of an item that has no parts, as a row. Changes nothing.
Result<ValueId> row_of(Capture& capture, const Ref& item) {
  if (item->kind == AbstractKind::array) return capture.memory().read(item);
  if (!is_dynamic_list(item)) return capture.values().scalar_value(item);
  ValueId numbers = item->array.storage->current;
  for (const Ref& number : item->items) {
    ACCEL_TRY(ValueId value, capture.values().scalar_value(number));
    numbers = capture.build().add_row(numbers, value);
  }
  return numbers;
}

bool has_type(Capture& capture, const Ref& item, const RowType& row) {
  const Descent level;
  capture.resolver().look(item);
  if (!row.parts.empty()) {
    AbstractKind kind = row.is_list ? AbstractKind::list : AbstractKind::tuple;
    bool fits = item->kind == kind && item->source < 0 && !is_row(item) && item->items.size() == row.parts.size();
    for (size_t k = 0; fits && k < row.parts.size(); ++k) fits = has_type(capture, item->items[k], row.parts[k]);
    return fits;
  }
  if (is_dynamic_list(item)) return row_of_list(capture, *item) == row;
  if (item->kind != AbstractKind::array) return number_type(*item) == row.type;
  const StridedLayout& layout = item->array.layout;
  return row.type.kind == ValueKind::array && layout.dtype == row.type.dtype && layout.shape == row.type.shape &&
         capture.graph().type(capture.memory().read(item)).is_c_order();
}

Status require_type(Capture& capture, const Ref& list) {
  const RowType row = row_type(*list);
  for (const Ref& item : list->items)
    if (!has_type(capture, item, row)) return fail(Reason::unsupported_value, "a list of items of several types");
  return Unit{};
}

// The rows of all items, including appended ones. Changes nothing. Requires items without parts.
Result<ValueId> all_rows(Capture& capture, const Ref& list) {
  ACCEL_TRY([[maybe_unused]] Unit typed, require_type(capture, list));
  ValueId rows = list->array.storage->current;
  for (const Ref& item : list->items) {
    ACCEL_TRY(ValueId value, row_of(capture, item));
    rows = capture.build().add_row(rows, value);
  }
  return rows;
}

// Exits unless left >= right.
Status require_at_least(Capture& capture, Dim left, Dim right, Reason reason, const char* detail) {
  if (capture.facts().prove(capture.dims().sub(left, right))) return Unit{};
  Relation relation{left, right, Comparison::ge};
  ValueId holds = capture.facts().compare_at_run_time(relation, ValueKind::py_scalar);
  ACCEL_TRY([[maybe_unused]] Unit required, capture.require(holds, reason, detail));
  capture.facts().assume(relation);
  return Unit{};
}

// NumPy's array of an empty list has another shape or dtype.
Status require_items(Capture& capture, const Ref& list) {
  return require_at_least(capture, length_of(capture, list), capture.dims().constant(1), Reason::assumption_failed,
                          "an array of an empty list");
}

bool is_number_row(const RowType& row) { return row.parts.empty() && row.type.rank() == 0; }

void collect_columns(const Ref& list, std::vector<Ref>& out) {
  if (!list->columns) return out.push_back(list);
  for (const Ref& column : list->columns->items) collect_columns(column, out);
}

// The dtype of Python numbers with the values of an array's elements; nullopt: some elements may not fit.
std::optional<DType> dtype_of_items(DType dtype) {
  switch (dtype_kind(dtype)) {
    case 'b':
      return DType::bool_;
    case 'f':
      return DType::float64;
    case 'c':
      return DType::complex128;
    default:
      return dtype == DType::uint64 ? std::nullopt : std::optional(DType::int64);
  }
}

// Whether casting numbers one by one gives the same result as casting an array of them.
bool casts_alike(DType from, DType to) {
  if (from == to) return true;
  char kind = dtype_kind(from), wanted = dtype_kind(to);
  if (kind == 'f') return wanted == 'f' || wanted == 'c';
  return (kind == 'b' || kind == 'i' || kind == 'u') && (to == DType::float64 || to == DType::complex128);
}

}  // namespace

// The row type of a dynamic list of numbers as an item; nullopt: its items are something else.
std::optional<RowType> row_of_list(Capture& capture, const AbstractValue& list) {
  bool plain = !list.columns && !list.iterated && list.scalar.kind != ValueKind::array;
  if (!plain || list.array.layout.shape.size() != 1) return std::nullopt;
  const Type number{list.scalar.kind, list.scalar.dtype, {}, {}};
  bool fits = std::all_of(list.items.begin(), list.items.end(), [&](const Ref& item) { return number_type(*item) == number; });
  if (!fits) return std::nullopt;
  DimTable& dims = capture.dims();
  Dim length = dims.add(list.array.layout.shape[0], dims.constant(static_cast<int64_t>(list.items.size())));
  return RowType{{number.kind, number.dtype, {length}, {}}, {}, true};
}

RowType row_type(const AbstractValue& list) {
  RowType row;
  if (list.columns) {
    row.is_list = list.columns->kind == AbstractKind::list;
    for (const Ref& column : list.columns->items) row.parts.push_back(row_type(*column));
    return row;
  }
  const std::vector<Dim>& shape = list.array.layout.shape;
  row.type = {list.scalar.kind, list.scalar.dtype, {shape.begin() + 1, shape.end()}, {}};
  row.is_list = shape.size() > 1 && list.scalar.kind != ValueKind::array;
  return row;
}

void make_dynamic_list(Capture& capture, const Ref& list, const RowType& row) {
  list->kind = AbstractKind::dynamic_list;
  list->array = {};
  if (!row.parts.empty()) {
    std::vector<Ref> columns;
    for (const RowType& part : row.parts) make_dynamic_list(capture, columns.emplace_back(capture.values().list({})), part);
    list->columns = row.is_list ? capture.values().list(std::move(columns)) : capture.values().tuple(std::move(columns));
    return;
  }
  list->scalar.kind = row.type.kind;
  list->scalar.dtype = row.type.dtype;
  list->array.storage = std::make_shared<Storage>();
  std::vector<Dim> shape = row.type.shape;
  shape.insert(shape.begin(), capture.dims().constant(0));
  Builder& build = capture.build();
  Literal zero{row.type.dtype, {0, 0}};
  set_rows(capture, list, build.full(build.constant(zero, ValueKind::numpy_scalar), std::move(shape)));
}

Status settle(Capture& capture, const Ref& list) {
  if (!list->columns) {
    ACCEL_TRY(ValueId rows, all_rows(capture, list));
    list->items.clear();
    set_rows(capture, list, rows);
    return Unit{};
  }
  ACCEL_TRY([[maybe_unused]] Unit typed, require_type(capture, list));
  const std::vector<Ref>& columns = list->columns->items;
  for (size_t k = 0; k < columns.size(); ++k) {
    for (const Ref& item : list->items) columns[k]->items.push_back(item->items[k]);
    ACCEL_TRY([[maybe_unused]] Unit settled, settle(capture, columns[k]));
  }
  list->items.clear();
  return Unit{};
}

std::vector<Ref> columns_of(const Ref& list) {
  std::vector<Ref> out;
  collect_columns(list, out);
  return out;
}

void name_length(Capture& capture, const Ref& list, Dim length) {
  std::vector<Dim> shape = list->array.layout.shape;
  shape[0] = length;
  set_rows(capture, list, capture.build().reshape(list->array.storage->current, std::move(shape)));
}

Dim length_of(Capture& capture, const Ref& list) {
  DimTable& dims = capture.dims();
  Dim rows = list->columns ? length_of(capture, list->columns->items[0]) : list->array.layout.shape[0];
  return dims.add(rows, dims.constant(static_cast<int64_t>(list->items.size())));
}

namespace {

// Rows are copies, so a row of a mutable object must not be read as the object.
Status require_numbers(const Ref& list) {
  const RowType row = row_type(*list);
  if (!row.has_arrays() && !row.has_lists()) return Unit{};
  return fail(Reason::unsupported_value, "an array or a list in a list whose length is known at run time only");
}

// The index counted from the start. Compiled code exits where Python raises IndexError.
Result<Dim> place_at(Capture& capture, const Ref& list, const Ref& index) {
  DimTable& dims = capture.dims();
  ACCEL_TRY(Dim at, read_dim(capture, index));
  Dim length = length_of(capture, list), zero = dims.constant(0);
  at = capture.facts().from_start(at, length, false);
  const char* detail = "list index out of range";
  ACCEL_TRY([[maybe_unused]] Unit low, require_at_least(capture, at, zero, Reason::will_raise, detail));
  ACCEL_TRY([[maybe_unused]] Unit high,
            require_at_least(capture, length, dims.add(at, dims.constant(1)), Reason::will_raise, detail));
  return at;
}

// place_at() among the rows, after appended items have become rows as well.
Result<Dim> row_at(Capture& capture, const Ref& list, const Ref& index) {
  ACCEL_TRY([[maybe_unused]] Unit numbers, require_numbers(list));
  ACCEL_TRY(Dim at, place_at(capture, list, index));
  ACCEL_TRY([[maybe_unused]] Unit settled, settle(capture, list));
  return at;
}

// The item of a row as a new value.
Ref item_at(Capture& capture, const Ref& list, Dim at) {
  if (!list->columns) {
    ValueId rows = list->array.storage->current;
    Ref number = capture.values().scalar(capture.build().take(rows, {capture.build().dim(at)}, list->scalar.kind));
    number->is_one_of_several = true;
    return number;
  }
  std::vector<Ref> parts;
  for (const Ref& column : list->columns->items) parts.push_back(item_at(capture, column, at));
  Ref item = capture.values().tuple(std::move(parts));
  item->is_one_of_several = true;
  return item;
}

// Stores an item into a row. Requires an item of the list's type.
Status put_at(Capture& capture, const Ref& list, Dim at, const Ref& item) {
  if (!list->columns) {
    ACCEL_TRY(ValueId row, capture.values().scalar_value(item));
    set_rows(capture, list, capture.build().put(list->array.storage->current, row, {capture.build().dim(at)}));
    return Unit{};
  }
  for (size_t k = 0; k < item->items.size(); ++k) {
    ACCEL_TRY([[maybe_unused]] Unit put, put_at(capture, list->columns->items[k], at, item->items[k]));
  }
  return Unit{};
}

// The position among the appended items of a constant negative index; nullopt: the index is none of these.
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

// Sets the rows of `out`, a dynamic list without appended items, to copies of the rows of `list` that the slice selects.
Status copy_rows(Capture& capture, const Ref& list, const Ref& slice, const Ref& out) {
  ACCEL_TRY([[maybe_unused]] Unit numbers, require_numbers(list));
  ACCEL_TRY([[maybe_unused]] Unit settled, settle(capture, list));
  const std::vector<Ref> columns = columns_of(list), copies = columns_of(out);
  for (size_t k = 0; k < columns.size(); ++k) {
    ACCEL_TRY(Ref part, get_item(capture, capture.values().fresh_array(columns[k]->array.storage->current), slice));
    set_rows(capture, copies[k], capture.build().copy(capture.memory().read(part)));
  }
  return Unit{};
}

}  // namespace

namespace {

// The list of numbers that a row represents. Requires a list of such lists.
Result<Ref> list_at(Capture& capture, const Ref& list, const Ref& index) {
  const RowType row = row_type(*list);
  bool plain = list->items.empty() && (row.parts.empty() || std::all_of(row.parts.begin(), row.parts.end(), is_number_row));
  if (!plain) return fail(Reason::unsupported_value, "such a list in a list whose length is known at run time only");
  ACCEL_TRY(Dim at, place_at(capture, list, index));
  Ref item = capture.values().list({});
  if (row.parts.empty()) {
    make_dynamic_list(capture, item, {{row.type.kind, row.type.dtype, {}, {}}, {}});
    ValueId rows = list->array.storage->current;
    set_rows(capture, item, capture.build().take(rows, {capture.build().dim(at)}, ValueKind::array));
  } else {
    for (const Ref& column : list->columns->items) item->items.push_back(item_at(capture, column, at));
  }
  item->iterated = list;
  item->scalar.dim = at;
  return item;
}

}  // namespace

Result<Ref> item_of_dynamic_list(Capture& capture, const Ref& list, const Ref& index) {
  ACCEL_TRY([[maybe_unused]] Unit number, require_index(index));
  if (auto place = known_place(capture, list, index)) return list->items[*place];
  if (row_type(*list).is_list) return list_at(capture, list, index);
  ACCEL_TRY(Dim at, row_at(capture, list, index));
  return item_at(capture, list, at);
}

Result<Ref> slice_of_dynamic_list(Capture& capture, const Ref& list, const Ref& slice) {
  Ref out = capture.values().list({});
  make_dynamic_list(capture, out, row_type(*list));
  ACCEL_TRY([[maybe_unused]] Unit copied, copy_rows(capture, list, slice, out));
  return out;
}

Status reverse_dynamic_list(Capture& capture, const Ref& list) {
  Ref none = capture.values().constant(Py_None);
  return copy_rows(capture, list, make_slice(capture, none, none, capture.values().python_int(-1)), list);
}

Status extend_by_rows(Capture& capture, const Ref& list, const Ref& more) {
  Ref other = more;
  if (more->kind == AbstractKind::array)
    other = list_of_rows(capture, more, {{ValueKind::numpy_scalar, more->array.layout.dtype, {}, {}}, {}});
  const RowType row = row_type(*other);
  auto fits = [&](const Ref& item) { return has_type(capture, item, row); };
  bool same = is_dynamic_list(list) ? row_type(*list) == row : std::all_of(list->items.begin(), list->items.end(), fits);
  if (!same || row.has_arrays() || row.has_lists())
    return fail(Reason::unsupported_value, "a list of items of several types, or of arrays or lists");
  if (!is_dynamic_list(list)) make_dynamic_list(capture, list, row);
  ACCEL_TRY([[maybe_unused]] Unit settled, settle(capture, list));
  ACCEL_TRY([[maybe_unused]] Unit other_settled, settle(capture, other));
  const std::vector<Ref> columns = columns_of(list), others = columns_of(other);
  std::vector<ValueId> rows;
  for (size_t k = 0; k < columns.size(); ++k) {
    std::vector<ValueId> parts = {columns[k]->array.storage->current, others[k]->array.storage->current};
    rows.push_back(capture.build().concatenate(std::move(parts), 0));
  }
  for (size_t k = 0; k < columns.size(); ++k) set_rows(capture, columns[k], rows[k]);
  return Unit{};
}

Status clear_dynamic_list(Capture& capture, const Ref& list) {
  const RowType row = row_type(*list);
  // Rows that other references name are identified by their index.
  if (row.has_lists()) return fail(Reason::unsupported_call, "list.clear");
  list->items.clear();
  list->columns = nullptr;
  make_dynamic_list(capture, list, row);
  return Unit{};
}

Status insert_into_dynamic_list(Capture& capture, const Ref& list, const Ref& index, const Ref& item) {
  const RowType row = row_type(*list);
  if (!has_type(capture, item, row)) return fail(Reason::unsupported_value, "a list of items of several types");
  ACCEL_TRY(Dim at, read_dim(capture, index));
  Ref place = capture.values().dim_scalar(at), none = capture.values().constant(Py_None);
  Ref front = capture.values().list({}), back = capture.values().list({});
  make_dynamic_list(capture, front, row);
  make_dynamic_list(capture, back, row);
  ACCEL_TRY([[maybe_unused]] Unit before, copy_rows(capture, list, make_slice(capture, none, place, none), front));
  ACCEL_TRY([[maybe_unused]] Unit copied_back, copy_rows(capture, list, make_slice(capture, place, none, none), back));
  front->items = {item};
  ACCEL_TRY([[maybe_unused]] Unit settled, settle(capture, front));
  const std::vector<Ref> first = columns_of(front), last = columns_of(back), columns = columns_of(list);
  for (size_t k = 0; k < columns.size(); ++k) {
    std::vector<ValueId> parts = {first[k]->array.storage->current, last[k]->array.storage->current};
    set_rows(capture, columns[k], capture.build().concatenate(std::move(parts), 0));
  }
  return Unit{};
}

Result<Ref> pop_of_dynamic_list(Capture& capture, const Ref& list, const Ref& index) {
  std::optional<Dim> known = known_dim(capture, index);
  std::optional<int64_t> at = known ? capture.dims().as_constant(*known) : std::nullopt;
  if (at != -1 && at != 0) return fail(Reason::unsupported_value, "pop() in the middle of a list that grows");
  if (at == -1 && !list->items.empty()) {
    Ref item = list->items.back();
    list->items.pop_back();
    return item;
  }
  ACCEL_TRY(Dim row, row_at(capture, list, index));
  Ref item = item_at(capture, list, row);
  if (at == 0) {
    Ref none = capture.values().constant(Py_None);
    ACCEL_TRY([[maybe_unused]] Unit copied,
              copy_rows(capture, list, make_slice(capture, capture.values().python_int(1), none, none), list));
    return item;
  }
  for (const Ref& column : columns_of(list))
    set_rows(capture, column, capture.build().drop_row(column->array.storage->current));
  return item;
}

Status store_to_dynamic_list(Capture& capture, const Ref& list, const Ref& index, const Ref& value) {
  ACCEL_TRY([[maybe_unused]] Unit number, require_index(index));
  if (auto place = known_place(capture, list, index)) {
    list->items[*place] = value;
    return Unit{};
  }
  capture.resolver().look(value);
  if (!has_type(capture, value, row_type(*list)))
    return fail(Reason::unsupported_value, "a store of another type into a list whose length is known at run time only");
  ACCEL_TRY(Dim at, row_at(capture, list, index));
  return put_at(capture, list, at, value);
}

Status store_to_row(Capture& capture, const Ref& row, const Ref& index, const Ref& value) {
  const Ref& list = row->iterated;
  capture.resolver().look(value);
  // Other rows of the list that are alive would still have the old number.
  const std::vector<Ref> alive = capture.alive();
  auto is_of_list = [&](const Ref& value) { return is_row(value) && value->iterated == list; };
  if (std::any_of(alive.begin(), alive.end(), is_of_list))
    return fail(Reason::unsupported_value, "a change of a list in a list, of which another is used");
  Builder& build = capture.build();
  if (is_dynamic_list(row)) {
    if (number_type(*value) != Type{row->scalar.kind, row->scalar.dtype, {}, {}})
      return fail(Reason::unsupported_value, "a store of another type into a list in a list that grows");
    ACCEL_TRY([[maybe_unused]] Unit number, require_index(index));
    ACCEL_TRY(Dim at, place_at(capture, row, index));
    ACCEL_TRY(ValueId stored, capture.values().scalar_value(value));
    set_rows(capture, list, build.put(list->array.storage->current, stored, {build.dim(*row->scalar.dim), build.dim(at)}));
    return Unit{};
  }
  ACCEL_TRY(int64_t at, capture.constants().require_int(index));
  auto count = static_cast<int64_t>(row->items.size());
  if (at < 0) at += count;
  if (at < 0 || at >= count) return capture.raised(PyExc_IndexError, "the index is out of range");
  const Ref& column = list->columns->items[static_cast<size_t>(at)];
  if (!has_type(capture, value, row_type(*column)))
    return fail(Reason::unsupported_value, "a store of another type into a list in a list that grows");
  return put_at(capture, column, *row->scalar.dim, value);
}

Ref list_of_number(Capture& capture, const Ref& number, Dim count) {
  DimTable& dims = capture.dims();
  Ref list = capture.values().list({});
  make_dynamic_list(capture, list, {*number_type(*number), {}});
  Dim length = capture.facts().prove(count) ? count : dims.max(count, dims.constant(0));
  set_rows(capture, list, capture.build().full(capture.values().scalar_value(number).value(), {length}));
  return list;
}

Result<Ref> rows_of_numbers(Capture& capture, const Ref& list) {
  bool numbers = !list->columns && is_number_row(row_type(*list)) && dtype_kind(list->scalar.dtype) != 'c';
  if (!numbers) return fail(Reason::unsupported_value, "a list of other items than real numbers");
  ACCEL_TRY(ValueId rows, all_rows(capture, list));
  return capture.values().fresh_array(capture.build().copy(rows));
}

Ref list_of_rows(Capture& capture, const Ref& array, const RowType& row) {
  Ref list = capture.values().list({});
  make_dynamic_list(capture, list, row);
  set_rows(capture, list, capture.build().copy(capture.memory().read(array)));
  return list;
}

void replace_rows(Capture& capture, const Ref& list, const Ref& array) {
  list->items.clear();
  set_rows(capture, list, capture.build().copy(capture.memory().read(array)));
}

Result<Ref> list_of_elements(Capture& capture, const Ref& array) {
  const StridedLayout& layout = array->array.layout;
  if (layout.shape.size() != 1) return fail(Reason::unsupported_argument, "a list of lists known at run time only");
  std::optional<DType> dtype = dtype_of_items(layout.dtype);
  if (!dtype) return fail(Reason::unsupported_dtype, "a list of uint64");
  Ref numbers = capture.values().fresh_array(capture.values().astype(capture.memory().read(array), *dtype));
  return list_of_rows(capture, numbers, {{ValueKind::py_scalar, *dtype, {}, {}}, {}});
}

namespace {

// The rows of one part of all items, including appended ones. Changes nothing.
Result<ValueId> rows_of_part(Capture& capture, const Ref& list, size_t place) {
  ValueId rows = list->columns->items[place]->array.storage->current;
  for (const Ref& item : list->items) {
    ACCEL_TRY(ValueId value, row_of(capture, item->items[place]));
    rows = capture.build().add_row(rows, value);
  }
  return rows;
}

// A two-dimensional array with a row for each tuple or list.
Result<Ref> array_of_sequences(Capture& capture, const Ref& list, std::optional<DType> dtype) {
  ACCEL_TRY([[maybe_unused]] Unit some, require_items(capture, list));
  ACCEL_TRY([[maybe_unused]] Unit typed, require_type(capture, list));
  std::vector<OperandType> types;
  for (const Ref& column : list->columns->items) {
    if (column->columns || !is_number_row(row_type(*column)))
      return fail(Reason::unsupported_value, "an array of a list of nested sequences");
    types.push_back({OperandType::Kind::array, column->scalar.dtype});
  }
  if (!dtype) {
    ACCEL_TRY(dtype, numpy_result_type(types));
  }
  Dim length = length_of(capture, list);
  std::vector<ValueId> parts;
  for (size_t k = 0; k < list->columns->items.size(); ++k) {
    if (!casts_alike(list->columns->items[k]->scalar.dtype, *dtype))
      return fail(Reason::unsupported_dtype, "an array of a list by a cast");
    ACCEL_TRY(ValueId rows, rows_of_part(capture, list, k));
    ValueId part = capture.values().astype(rows, *dtype);
    parts.push_back(capture.build().reshape(part, {length, capture.dims().constant(1)}));
  }
  return capture.values().fresh_array(parts.size() == 1 ? capture.build().copy(parts[0])
                                                        : capture.build().concatenate(parts, 1));
}

}  // namespace

Result<Ref> array_of_dynamic_list(Capture& capture, const Ref& list, std::optional<DType> dtype) {
  if (list->columns) return array_of_sequences(capture, list, dtype);
  DType own = list->scalar.dtype, wanted = dtype.value_or(own);
  if (!casts_alike(own, wanted)) return fail(Reason::unsupported_dtype, "an array of a list by a cast");
  const RowType row = row_type(*list);
  bool same_dtype_when_empty = dtype || own == DType::float64;
  if (!is_number_row(row) || !same_dtype_when_empty) {
    ACCEL_TRY([[maybe_unused]] Unit some, require_items(capture, list));
  }
  if (row.is_list && !same_dtype_when_empty) {
    ACCEL_TRY([[maybe_unused]] Unit some, require_at_least(capture, row.type.shape[0], capture.dims().constant(1),
                                                           Reason::assumption_failed, "an array of empty lists"));
  }
  ACCEL_TRY(ValueId rows, all_rows(capture, list));
  ValueId cast = capture.values().astype(rows, wanted);
  return capture.values().fresh_array(cast == rows ? capture.build().copy(rows) : cast);
}

Result<Ref> concatenated_items(Capture& capture, const Ref& list) {
  if (list->columns || row_type(*list).is_list)
    return fail(Reason::unsupported_value, "concatenated tuples or lists of a list that grows");
  if (list->scalar.kind != ValueKind::array) return fail(Reason::will_raise, "zero-dimensional arrays cannot be concatenated");
  ACCEL_TRY([[maybe_unused]] Unit some, require_items(capture, list));
  ACCEL_TRY(ValueId rows, all_rows(capture, list));
  std::vector<Dim> shape = capture.graph().type(rows).shape;
  shape[1] = capture.dims().mul(shape[0], shape[1]);
  shape.erase(shape.begin());
  return capture.values().fresh_array(capture.build().copy(capture.build().reshape(rows, std::move(shape))));
}

}  // namespace accel
