#pragma once
// Python's operations on abstract values. A Failure means that the operation is left to the interpreter.

#include <Python.h>

#include <functional>
#include <optional>
#include <vector>

#include "capture/context/context.h"

namespace accel {

// `op`: CPython's NB_* number of the form that is not augmented; `inplace`: the augmented form was executed.
Result<Ref> binary_operation(Capture& capture, int op, bool inplace, const Ref& left, const Ref& right,
                             Temporaries temporaries = {});
Result<Ref> unary_operation(Capture& capture, char op, const Ref& operand);  // '-', '+', '~'
// op: Py_LT ... Py_GE. only_truth: only the truth of the result is used.
Result<Ref> compare(Capture& capture, int op, const Ref& left, const Ref& right, bool only_truth = false);
// Whether it is an array or a number.
bool is_arraylike(const Ref& value);
// Whether NumPy implements an operator on these operands; false for a Python number with a tuple or list.
bool numpy_decides(const Ref& left, const Ref& right);
Result<bool> truth(Capture& capture, const Ref& value);
Result<bool> is_same(Capture& capture, const Ref& left, const Ref& right);
// Equality as containers test it: identity or ==.
Result<bool> is_equal(Capture& capture, const Ref& left, const Ref& right);
Result<bool> contains(Capture& capture, const Ref& item, const Ref& container);

// The bound __getitem__ of an instance of a class written in Python; nullopt: another object.
Result<std::optional<Ref>> python_getitem(Capture& capture, const Ref& container);
Ref make_slice(Capture& capture, Ref start, Ref stop, Ref step);
Result<Ref> get_item(Capture& capture, const Ref& container, const Ref& index);
Status set_item(Capture& capture, const Ref& container, const Ref& index, const Ref& value);
Status store_item(Capture& capture, const Ref& array, const Ref& index, const Ref& value);  // set_item of arrays
Status set_attribute(Capture& capture, const Ref& owner, PyObject* name, const Ref& value);
Status delete_item(Capture& capture, const Ref& container, const Ref& index);
// list.extend(more)
Status extend_list(Capture& capture, const Ref& list, const Ref& more);

Result<Ref> get_iterator(Capture& capture, const Ref& value);
Result<std::optional<Ref>> next_item(Capture& capture, const Ref& iterator);
// Calls use(item) for each item before the next one is made.
Status for_each_item(Capture& capture, const Ref& value, const std::function<Status(const Ref&)>& use);
Result<std::vector<Ref>> all_items(Capture& capture, const Ref& value);
// dict.keys(), dict.values(), dict.items() for `what` 0, 1, 2.
Ref view_of_dict(const Ref& dict, size_t what);

// The named part of an instance of a C type that the captured code made; null if there is none.
Ref part_of(const AbstractValue& instance, const char* name);
// Name of the part that holds the arguments by which such an instance is made. No attribute has this name.
inline constexpr const char* call_that_makes = "(arguments)";

Result<Ref> get_attribute(Capture& capture, const Ref& value, PyObject* name);
// What a name of a module is bound to, in the module's dict. Fails for a lazy import, which the interpreter replaces there
// when it loads it.
Result<Ref> bound_in_module(Capture& capture, SourceId source, PyObject* value);
// Calls a constant class: a named tuple, or a class written in Python whose instances hold nothing but attributes.
Result<Ref> make_instance(Capture& capture, const Ref& cls, const CallArguments& arguments);
// A special method such as __call__, looked up in the class only and bound. Fails if it is no Python function.
Result<Ref> class_method(Capture& capture, const Ref& value, const char* name);
// set_attribute of an instance that the captured code made.
Status set_made_attribute(Capture& capture, const Ref& owner, PyObject* name, const Ref& value);
// set_attribute of an instance of the caller's whose class is written in Python.
Status set_object_attribute(Capture& capture, const Ref& owner, PyObject* name, const Ref& value);

Ref make_set();
// Whether its items are fixed constants: a frozenset, or a set that the captured code made of constants.
bool is_known_set(const Ref& value);
Status add_to_set(Capture& capture, const Ref& set, const Ref& value);
// Whether the iteration order of a set is independent of its history: it has at most one item, or only ints below the size of
// the smallest table, which have no collisions.
bool has_certain_order(PyObject* set);

// Index of `key` in a dict, or nullopt. For a dict of the caller's, a guard ensures that an absent key stays absent.
Result<std::optional<size_t>> find_key(Capture& capture, const Ref& dict, const Ref& key);
Status require_fresh(Capture& capture, const Ref& container);  // fails unless the captured code made it

Ref make_bool(Capture& capture, bool value);
// An int (not a bool) that is a constant or has a Dim, as a Dim; nullopt for other values.
std::optional<Dim> as_dim(Capture& capture, const Ref& value);
// The Dim of an int (not a bool) that has one already; nullopt for other values.
std::optional<Dim> known_dim(Capture& capture, const Ref& value);
// Calls a pure function on constants; the result is a new value. Fails with will_raise when it raises.
Result<Ref> fold(Capture& capture, PyObject* function, const std::vector<PyRef>& arguments);
Result<Ref> folded(Capture& capture, PyObject* new_reference);
// The constant that a call returns; fails if the call warns.
Result<Ref> folded_quietly(Capture& capture, const std::function<PyObject*()>& call);

// Whether a call warns. Its result is discarded.
bool warns(const std::function<PyObject*()>& call);

}  // namespace accel
