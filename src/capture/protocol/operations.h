#pragma once
// What Python's operations do on abstract values. A Failure means that the operation is left to the interpreter.

#include <Python.h>

#include <functional>
#include <optional>
#include <vector>

#include "capture/context/context.h"

namespace accel {

// `op` is CPython's NB_* number of the plain form; `inplace` the augmented form.
Result<Ref> binary_operation(Capture& capture, int op, bool inplace, const Ref& left, const Ref& right,
                             Temporaries temporaries = {});
Result<Ref> unary_operation(Capture& capture, char op, const Ref& operand);  // '-', '+', '~'
// op: Py_LT ... Py_GE. only_truth: of the result only the truth is asked.
Result<Ref> compare(Capture& capture, int op, const Ref& left, const Ref& right, bool only_truth = false);
// Arrays and numbers.
bool is_arraylike(const Ref& value);
// Whether an operator on these is NumPy's: a number of Python's and a tuple or list have none.
bool numpy_decides(const Ref& left, const Ref& right);
Result<bool> truth(Capture& capture, const Ref& value);
Result<bool> is_same(Capture& capture, const Ref& left, const Ref& right);
// Equality as containers see it: identity or ==.
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
// Adds what an iterable gives to a list.
Status extend_list(Capture& capture, const Ref& list, const Ref& more);

Result<Ref> get_iterator(Capture& capture, const Ref& value);
Result<std::optional<Ref>> next_item(Capture& capture, const Ref& iterator);
// Calls use(item) before the next item is made.
Status for_each_item(Capture& capture, const Ref& value, const std::function<Status(const Ref&)>& use);
Result<std::vector<Ref>> all_items(Capture& capture, const Ref& value);
// dict.keys, dict.values, dict.items (`what`: 0, 1, 2).
Ref view_of_dict(const Ref& dict, size_t what);

// A part of an instance of a C type that the captured code made; null when there is none of this name.
Ref part_of(const AbstractValue& instance, const char* name);
// The part with the arguments of the type's call that makes such an instance. No attribute has this name.
inline constexpr const char* call_that_makes = "(arguments)";

Result<Ref> get_attribute(Capture& capture, const Ref& value, PyObject* name);
// A call of a class that is a constant: of one written in Python whose instances are no more than their attributes, or of a
// named tuple.
Result<Ref> make_instance(Capture& capture, const Ref& cls, const CallArguments& arguments);
// A method that Python looks up in the class alone, bound: __call__. Fails where it is no Python function.
Result<Ref> class_method(Capture& capture, const Ref& value, const char* name);
// The same for instances that the captured code made.
Status set_made_attribute(Capture& capture, const Ref& owner, PyObject* name, const Ref& value);
// The same for the caller's instances of classes written in Python.
Status set_object_attribute(Capture& capture, const Ref& owner, PyObject* name, const Ref& value);

// Sets.
Ref make_set();
// Whether its items are constants that stay: of a frozenset, or of a set that the captured code made.
bool is_known_set(const Ref& value);
Status add_to_set(Capture& capture, const Ref& set, const Ref& value);
// Whether Python's order of the items does not depend on how a set has come about: of at most one, or of ints below the size
// of the smallest table, each in a place of its own.
bool has_certain_order(PyObject* set);

// Index of `key` in a dict, or nullopt. For a dict of the call, guards on the key being absent.
Result<std::optional<size_t>> find_key(Capture& capture, const Ref& dict, const Ref& key);
Status require_fresh(Capture& capture, const Ref& container);  // may be changed: made by the captured code

Ref make_bool(Capture& capture, bool value);
// Integer (bool excluded) that is a constant or a Dim, as a Dim; nullopt for other values.
std::optional<Dim> as_dim(Capture& capture, const Ref& value);
// The same for what has a Dim already.
std::optional<Dim> known_dim(Capture& capture, const Ref& value);
// Calls a pure function on constants. New value; fails with will_raise when it raises.
Result<Ref> fold(Capture& capture, PyObject* function, const std::vector<PyRef>& arguments);
Result<Ref> folded(Capture& capture, PyObject* new_reference);
// The same of what a call gives, unless it warns.
Result<Ref> folded_quietly(Capture& capture, const std::function<PyObject*()>& call);

// Whether a call warns. What it gives is dropped.
bool warns(const std::function<PyObject*()>& call);

}  // namespace accel
