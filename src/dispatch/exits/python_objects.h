#pragma once
// Constructors of Python objects for recipes. Each returns a new reference, or null with an exception; none runs user code.

#include <Python.h>

#include <array>
#include <vector>

#include "capture/product/recipe.h"
#include "ir/graph.h"

namespace accel {

// The first of objects[parts[1...]] that is a number of the type and the bits of objects[parts[0]], else that one; a new
// reference.
PyObject* selected_number(const std::vector<int>& parts, PyObject* const* objects);

// objects[part] for each part; a null object stays null only where CPython allows it.
PyObject* new_tuple(const std::vector<int>& parts, PyObject* const* objects);
PyObject* new_list(const std::vector<int>& parts, PyObject* const* objects);
// An item per row of a dense array, a number of this kind (a list of such where rows have an axis) or an array of its own; then
// the parts.
PyObject* new_list_of_rows(PyObject* array, ValueKind kind, const std::vector<int>& parts, PyObject* const* objects);
// A tuple or list, as the recipe's kind says, for each item of the first `columns` parts, which are lists of one length; then
// the other parts.
PyObject* new_list_of_sequences(RecipeKind kind, size_t columns, const std::vector<int>& parts, PyObject* const* objects);
PyObject* new_dict(const std::vector<int>& parts, PyObject* const* objects);  // key, value, key, value, ...
// Of a class whose instances are no more than their attributes: name, value, name, value, ...
PyObject* new_instance(PyObject* type, const std::vector<int>& parts, PyObject* const* objects);

// iter(iterable), advanced `count` times.
PyObject* new_iterator(PyObject* iterable, int count);
// iter(iterable) of a sequence, which goes on at `index`.
PyObject* new_iterator_at(PyObject* iterable, PyObject* index);

// Sets attributes and items of the caller's objects. False with an exception. The values that were there before may run user
// code when they die.
bool perform(const std::vector<StoreRecipe>& stores, PyObject* const* objects);

// A function, or another callable that is no descriptor, bound to an object; what the descriptor of a built-in method gives for
// it, which need not be what the object has under the method's name: its class may override that.
PyObject* new_method(PyObject* callable, PyObject* self);

// callable(*parts).
PyObject* new_call(PyObject* callable, const std::vector<int>& parts, PyObject* const* objects);

// parts: globals, defaults, kwdefaults, closure, annotations (null: none).
PyObject* new_function(PyObject* code, const std::array<PyObject*, 5>& parts);

}  // namespace accel
