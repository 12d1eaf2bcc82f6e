#pragma once
// Values that stores of a run have replaced: guards ignore these stores, and a failed run undoes them.

#include <Python.h>

#include <vector>

#include "capture/product/recipe.h"
#include "guard/guard_set.h"

namespace accel {

// The value of an attribute or item of an object, borrowed; null when there is none.
PyObject* stored_value(StoreRecipe::Kind kind, PyObject* object, PyObject* name);

// Records stores: the value to be stored, and the value before the first store to the same attribute or item. `objects`: by
// recipe.
void note_replaced(const std::vector<StoreRecipe>& stores, PyObject* const* objects, std::vector<Replaced>& replaced);

// Restores the values from before the first stores. Keeps the current exception.
void put_back(const std::vector<Replaced>& replaced);

}  // namespace accel
