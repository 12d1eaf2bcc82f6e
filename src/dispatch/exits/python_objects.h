#pragma once
// Constructors of Python objects for recipes. Each returns a new reference, or null with an exception; none runs user code.

#include <Python.h>

#include <array>
#include <vector>

#include "capture/product/recipe.h"
#include "ir/graph.h"

namespace accel {

// New reference: the first of objects[parts[1...]] with the type and bits of the number objects[parts[0]], else that number.
PyObject* selected_number(const std::vector<int>& parts, PyObject* const* objects);

// A tuple or list of objects[part] for each part; a null object gives a null item.
PyObject* new_tuple(const std::vector<int>& parts, PyObject* const* objects);
PyObject* new_list(const std::vector<int>& parts, PyObject* const* objects);
// A list with one item per row of a dense array (a number of this kind, a list of numbers where rows have an axis, or an
// array), followed by the parts.
PyObject* new_list_of_rows(PyObject* array, ValueKind kind, const std::vector<int>& parts, PyObject* const* objects);
// A list that zips the first `columns` parts, which are lists of equal length, into tuples or lists according to `kind`,
// followed by the other parts.
PyObject* new_list_of_sequences(RecipeKind kind, size_t columns, const std::vector<int>& parts, PyObject* const* objects);
PyObject* new_dict(const std::vector<int>& parts, PyObject* const* objects);  // key, value, key, value, ...
// An instance of a class whose instances only consist of attributes; parts: name, value, name, value, ...
PyObject* new_instance(PyObject* type, const std::vector<int>& parts, PyObject* const* objects);

// iter(iterable), advanced `count` times.
PyObject* new_iterator(PyObject* iterable, int count);
// iter(iterable) of a sequence, continued at `index`.
PyObject* new_iterator_at(PyObject* iterable, PyObject* index);

// Makes stores to attributes and items of the caller's objects. False with an exception. Dropping the previous values may run
// user code.
bool perform(const std::vector<StoreRecipe>& stores, PyObject* const* objects);

// A method: a function or other callable bound to an object. For the descriptor of a built-in method, its result for the
// object, regardless of overrides in the object's class.
PyObject* new_method(PyObject* callable, PyObject* self);

// callable(*parts).
PyObject* new_call(PyObject* callable, const std::vector<int>& parts, PyObject* const* objects);

// parts: globals, defaults, kwdefaults, closure, annotations (null: none).
PyObject* new_function(PyObject* code, const std::array<PyObject*, 5>& parts);

}  // namespace accel
