#pragma once
// Lists whose length is known at run time only: AbstractKind::dynamic_list. All items have one type. Items are rows of a graph
// array, or of one array for each part of tuples; items appended since then are separate objects until they are settled.

#include "capture/context/context.h"
#include "capture/domain/element_type.h"

namespace accel {

inline bool is_dynamic_list(const Ref& value) { return value->kind == AbstractKind::dynamic_list; }
inline bool is_any_list(const AbstractValue& value) {
  return value.kind == AbstractKind::list || value.kind == AbstractKind::dynamic_list;
}

// Whether it is an item of a dynamic list of lists.
inline bool is_row(const Ref& value) { return is_any_list(*value) && value->iterated; }

// The row type of a dynamic list of numbers as an item of another list; nullopt: it cannot be one.
std::optional<RowType> row_of_list(Capture& capture, const AbstractValue& list);
// The type of the rows of a dynamic list.
RowType row_type(const AbstractValue& list);

// Turns a list of known items, which have this row type, into a dynamic list.
void make_dynamic_list(Capture& capture, const Ref& list, const RowType& row);
// Turns appended items into rows. Requires that the memory of arrays with other references is held.
Status settle(Capture& capture, const Ref& list);

Dim length_of(Capture& capture, const Ref& list);
// The dynamic lists of numbers or arrays that hold the parts of its rows.
std::vector<Ref> columns_of(const Ref& list);
// Expresses the length of a column by the equal Dim `length`.
void name_length(Capture& capture, const Ref& list, Dim length);
// list[index]
Result<Ref> item_of_dynamic_list(Capture& capture, const Ref& list, const Ref& index);
// list[slice], a new list
Result<Ref> slice_of_dynamic_list(Capture& capture, const Ref& list, const Ref& slice);
// list.pop(index)
Result<Ref> pop_of_dynamic_list(Capture& capture, const Ref& list, const Ref& index);
// list.insert(index, item)
Status insert_into_dynamic_list(Capture& capture, const Ref& list, const Ref& index, const Ref& item);
// list.extend(more) of a dynamic list or an array with one axis
Status extend_by_rows(Capture& capture, const Ref& list, const Ref& more);
// list.clear()
Status clear_dynamic_list(Capture& capture, const Ref& list);
// list.reverse()
Status reverse_dynamic_list(Capture& capture, const Ref& list);
// list[index] = value
Status store_to_dynamic_list(Capture& capture, const Ref& list, const Ref& index, const Ref& value);
// row[index] = value of a row, an item of a list of lists
Status store_to_row(Capture& capture, const Ref& row, const Ref& index, const Ref& value);
// [number] * count
Ref list_of_number(Capture& capture, const Ref& number, Dim count);
// The numbers of a list as a fresh array.
Result<Ref> rows_of_numbers(Capture& capture, const Ref& list);
// A list of copies of an array's rows, which have this type.
Ref list_of_rows(Capture& capture, const Ref& array, const RowType& row);
// Replaces the contents of a list by copies of an array's rows, which have the list's type. Requires a list that may be
// changed.
void replace_rows(Capture& capture, const Ref& list, const Ref& array);
// array.tolist() of an array with one axis
Result<Ref> list_of_elements(Capture& capture, const Ref& array);
// numpy.array(list, dtype)
Result<Ref> array_of_dynamic_list(Capture& capture, const Ref& list, std::optional<DType> dtype);
// numpy.concatenate(list)
Result<Ref> concatenated_items(Capture& capture, const Ref& list);

}  // namespace accel
