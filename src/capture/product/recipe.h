#pragma once
// Recipes: how dispatch makes the Python objects that are alive when compiled code ends. Product of capture.

#include <Python.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "capture/domain/view_step.h"
#include "cpython/py_ref.h"
#include "guard/guard_set.h"
#include "ir/graph.h"

namespace accel {

enum class RecipeKind : uint8_t {
#define RECIPE(name) name,
#include "capture/product/recipes.inc"
#undef RECIPE
};

// Whether the run may know the object by a number.
inline bool is_shown(RecipeKind kind) { return kind == RecipeKind::shown || kind == RecipeKind::shown_array; }

inline bool names_output(RecipeKind kind) {
  return kind == RecipeKind::output_array || kind == RecipeKind::list_of_rows || kind == RecipeKind::output_numpy ||
         kind == RecipeKind::output_python || is_shown(kind);
}

// Whether it makes an array that owns its memory.
inline bool is_fresh_array(RecipeKind kind) { return kind == RecipeKind::output_array || kind == RecipeKind::shown_array; }

using RecipeId = int;

// Recipes refer to earlier ones by index. One recipe is one object, so identities are preserved. A recipe that depends on an
// output belongs to that output's exit; all others may be shared between exits.
struct Recipe {
  RecipeKind kind = RecipeKind::null;
  PyRef object;
  int index = -1;
  DType dtype = DType::float64;
  std::vector<Dim> shape, strides;
  std::vector<ViewStep> path;  // view: view ops from the base; they give the strides NumPy uses if there are no elements
  Dim offset;
  ValueKind item = ValueKind::array;  // list_of_rows
  bool writeable = true;              // output_array, view: false makes the array read-only, even if its base is writeable
  bool strided_when_empty = false;    // view: `strides` hold even if there are no elements
  std::vector<RecipeId> parts;
};

// State of one frame at an exit, to be written into an interpreter frame.
struct FrameRecipe {
  RecipeId function = -1;
  PyRef code;                    // code object at capture: function.__code__ may be replaced while compiled code runs
  int call_offset = -1;          // outer frames: the call instruction (code units)
  int offset = 0;                // where the interpreter continues (code units)
  int return_offset = -1;        // of an instruction that returns (code units); -1: none
  std::vector<RecipeId> locals;  // localsplus
  std::vector<RecipeId> stack;   // CPython's own layout for this version
};

// An attribute or item of an object of the caller that compiled code has set.
struct StoreRecipe {
  enum class Kind : uint8_t { attribute, item } kind = Kind::attribute;  // item: of a dict or list
  RecipeId object = -1, name = -1, value = -1;                           // item: name is the key or index
};

enum class ExitKind : uint8_t {
  ret,     // return recipes[result]
  resume,  // rebuild the frames; the interpreter continues the innermost one
};

// A symbol that compiled code bound, and the output that holds its value.
struct BoundSymbol {
  int symbol = -1;
  int output = -1;  // an int64 scalar, numbered like Recipe::index
};

struct Exit {
  ExitKind kind = ExitKind::ret;
  RecipeId result = -1;
  std::vector<FrameRecipe> frames;         // outermost first
  std::vector<StoreRecipe> stores;         // in the order of execution, after all objects are made
  std::vector<BoundSymbol> symbols;        // symbols that recipes of this exit use in addition to the entry's
  bool is_check = false;                   // taken only in unusual cases at run time (index out of bounds, overflow, ...)
  bool is_behind_call = false;             // follows a call whose result ends every run, so it is never reached
  Reason reason = Reason::internal_error;  // resume: why compiled code ends here
  std::string detail;
  Location where;
};

}  // namespace accel
