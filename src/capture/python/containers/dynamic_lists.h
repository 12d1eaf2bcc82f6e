#pragma once
// Lists whose length is known at run time only: AbstractKind::dynamic_list. Their items are of one type: rows of an array of
// the graph, or of one for each part of tuples, then those that were appended since, which are objects of their own until they
// are settled.

#include "capture/context/context.h"
#include "capture/domain/element_type.h"

namespace accel {

inline bool is_dynamic_list(const Ref& value) { return value->kind == AbstractKind::dynamic_list; }
inline bool is_any_list(const AbstractValue& value) {
  return value.kind == AbstractKind::list || value.kind == AbstractKind::dynamic_list;
}

// Whether it is an item of a dynamic list of lists.
inline bool is_row(const Ref& value) { return is_any_list(*value) && value->iterated; }

// The type of a row that stands for a dynamic list of numbers which is an item of another list; nullopt: it cannot be one.
std::optional<RowType> row_of_list(Capture& capture, const AbstractValue& list);
// The type of the rows of a dynamic list.
RowType row_type(const AbstractValue& list);

// Makes a list of known items, which are of this type, one that grows.
void make_dynamic_list(Capture& capture, const Ref& list, const RowType& row);
// Brings the items that were appended into the rows. Requires that the memory of arrays to which others refer is held.
Status settle(Capture& capture, const Ref& list);

Dim length_of(Capture& capture, const Ref& list);
// The lists of numbers, or of arrays, that its rows are in.
std::vector<Ref> columns_of(const Ref& list);
// Says its length, which is this one, by other symbols. Requires a list that is one of its columns.
void name_length(Capture& capture, const Ref& list, Dim length);
// list[index]
Result<Ref> item_of_dynamic_list(Capture& capture, const Ref& list, const Ref& index);
// list[slice], a list of its own
Result<Ref> slice_of_dynamic_list(Capture& capture, const Ref& list, const Ref& slice);
// list.pop(index)
Result<Ref> pop_of_dynamic_list(Capture& capture, const Ref& list, const Ref& index);
// list.insert(index, item)
Status insert_into_dynamic_list(Capture& capture, const Ref& list, const Ref& index, const Ref& item);
// list.extend(more) of a list that grows, or an array with one axis
Status extend_by_rows(Capture& capture, const Ref& list, const Ref& more);
// list.clear()
Status clear_dynamic_list(Capture& capture, const Ref& list);
// list.reverse()
Status reverse_dynamic_list(Capture& capture, const Ref& list);
// list[index] = value
Status store_to_dynamic_list(Capture& capture, const Ref& list, const Ref& index, const Ref& value);
// row[index] = value of an item of a list of lists
Status store_to_row(Capture& capture, const Ref& row, const Ref& index, const Ref& value);
// [number] * count
Ref list_of_number(Capture& capture, const Ref& number, Dim count);
// The numbers of a list as an array of its own.
Result<Ref> rows_of_numbers(Capture& capture, const Ref& list);
// A list of copies of an array's rows, which are of this type.
Ref list_of_rows(Capture& capture, const Ref& array, const RowType& row);
// Copies of an array's rows, which are of the list's type, become all that is in the list. Requires a list that may be changed.
void replace_rows(Capture& capture, const Ref& list, const Ref& array);
// array.tolist() of an array with one axis
Result<Ref> list_of_elements(Capture& capture, const Ref& array);
// numpy.array(list, dtype)
Result<Ref> array_of_dynamic_list(Capture& capture, const Ref& list, std::optional<DType> dtype);
// numpy.concatenate(list)
Result<Ref> concatenated_items(Capture& capture, const Ref& list);

}  // namespace accel
