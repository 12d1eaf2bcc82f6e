#pragma once
// What stores of a run have replaced, so that guards can take it to be as before and a failed run can set it again.

#include <Python.h>

#include <vector>

#include "capture/product/recipe.h"
#include "guard/guard_set.h"

namespace accel {

// What an attribute or item of an object is; borrowed, null when there is none.
PyObject* stored_value(StoreRecipe::Kind kind, PyObject* object, PyObject* name);

// Adds what is to be stored, and what was there before the first store to the same place. `objects`: by recipe.
void note_replaced(const std::vector<StoreRecipe>& stores, PyObject* const* objects, std::vector<Replaced>& replaced);

// Sets the values before the first stores again. Keeps the current exception.
void put_back(const std::vector<Replaced>& replaced);

}  // namespace accel
