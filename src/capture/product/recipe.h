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
  null,           // NULL on the value stack / unbound local
  constant,       // object
  source,         // the object of a guard source
  output_array,   // fresh array: output `index`, counted through the outputs of all exits (ir/analysis/flow.h)
  output_numpy,   // NumPy scalar from rank-0 output `index`
  output_python,  // Python scalar from rank-0 output `index`
  dim_python,     // Python int of `offset` (a Dim over entry symbols)
  dim_numpy,      // numpy.intp of the same
  shown,          // what a call has been shown: the object that the run knows by the number of output `index`; parts[0] where
                  // it knows none
  shown_array,    // the array that a call has been shown, which the run knows by the number of output `index`; its elements are
                  // copied from parts[0], a fresh array, if there is one
  selected,       // the first of parts[1:] that is a number of the type and the bits of parts[0], a number; else that
  view,           // view of parts[0]: dtype, shape, strides (bytes), offset (bytes) over entry symbols
  tuple,
  list,            // parts
  list_of_rows,    // of output `index`, an array, an item per row: as `item` says numbers of it (of rows with an axis: lists of
                   // them), or arrays; then parts
  list_of_tuples,  // of the items of parts[:index], lists; then the other parts
  list_of_lists,   // likewise
  dict,            // parts: key, value, key, value, ...
  instance,        // of the class `object`, without a call of its: parts: name, value, name, value, ... of the attributes
  slice,           // parts: start, stop, step
  iterator,        // iter(parts[0]) advanced `index` times; with parts[1]: a sequence iterator at that index
  call,            // object(parts...): a built-in that runs no user code (range, enumerate, zip, format of a number)
  method,          // bound method: parts[0] is the function or the descriptor of a built-in method, parts[1] self
  attribute,       // getattr(parts[0], object) of a built-in type; runs no user code
  cell,            // new cell holding parts[0]
  function,  // new function: object = code, parts: globals, defaults|null, kwdefaults|null, closure|null, annotations|null
};

// Whether it is an object that the run knows by a number.
inline bool is_shown(RecipeKind kind) { return kind == RecipeKind::shown || kind == RecipeKind::shown_array; }

inline bool names_output(RecipeKind kind) {
  return kind == RecipeKind::output_array || kind == RecipeKind::list_of_rows || kind == RecipeKind::output_numpy ||
         kind == RecipeKind::output_python || is_shown(kind);
}

// An array that has memory of its own.
inline bool is_fresh_array(RecipeKind kind) { return kind == RecipeKind::output_array || kind == RecipeKind::shown_array; }

using RecipeId = int;

// Recipes refer to earlier ones by index; one recipe is one object: two references to a recipe are the same object. A recipe
// of an output, and what is made of one, belongs to the exit that has the output; the others may be shared by exits.
struct Recipe {
  RecipeKind kind = RecipeKind::null;
  PyRef object;
  int index = -1;
  DType dtype = DType::float64;
  std::vector<Dim> shape, strides;
  std::vector<ViewStep> path;  // view: the steps that lead to it, by which one without elements gets its strides
  Dim offset;
  ValueKind item = ValueKind::array;  // list_of_rows
  bool writeable = true;              // output_array, view: false makes it read-only, whatever its base is
  bool strided_when_empty = false;    // view: has these strides also where there are no elements
  std::vector<RecipeId> parts;
};

// State of one frame at an exit: what to write into a real frame.
struct FrameRecipe {
  RecipeId function = -1;
  PyRef code;                    // that was captured: the function may be given other code while compiled code runs
  int call_offset = -1;          // outer frames: the call instruction (code units)
  int offset = 0;                // where to go on (code units)
  int return_offset = -1;        // of an instruction that returns (code units); -1: there is none
  std::vector<RecipeId> locals;  // localsplus
  std::vector<RecipeId> stack;   // CPython's own layout for this version
};

// An attribute or item of an object of the caller's that compiled code has set.
struct StoreRecipe {
  enum class Kind : uint8_t { attribute, item } kind = Kind::attribute;  // item: of a dict or list
  RecipeId object = -1, name = -1, value = -1;                           // item: name is the key or index
};

enum class ExitKind : uint8_t {
  ret,     // return recipes[result]
  resume,  // rebuild frames, the innermost goes on in the interpreter
};

// A symbol that the compiled code bound, and the output that brings its value.
struct BoundSymbol {
  int symbol = -1;
  int output = -1;  // an int64 scalar, counted like Recipe::index
};

struct Exit {
  ExitKind kind = ExitKind::ret;
  RecipeId result = -1;
  std::vector<FrameRecipe> frames;         // outermost first
  std::vector<StoreRecipe> stores;         // in their order, when everything is made
  std::vector<BoundSymbol> symbols;        // what Dims in this exit's recipes may name beside the entry's symbols
  bool is_check = false;                   // taken only when something unusual happens at run time (bounds, overflow, ...)
  bool is_behind_call = false;             // of a call that ends every run by itself: compiled code never comes here
  Reason reason = Reason::internal_error;  // resume: why
  std::string detail;
  Location where;
};

}  // namespace accel
