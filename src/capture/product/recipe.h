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
  output_array,   // fresh array: output `index`, numbered across the outputs of all exits (ir/analysis/flow.h)
  output_numpy,   // NumPy scalar from rank-0 output `index`
  output_python,  // Python scalar from rank-0 output `index`
  dim_python,     // Python int of the Dim `offset`, over entry symbols
  dim_numpy,      // numpy.intp of the Dim `offset`
  shown,          // object known to the run by the number in output `index`; parts[0] if that output holds no number
  shown_array,    // array known to the run by the number in output `index`; its elements are copied from the fresh array
                  // parts[0], if given
  selected,       // the first of parts[1:] with the type and bits of the number parts[0]; if there is none, parts[0]
  view,           // view of parts[0] with dtype, shape, strides (bytes) and offset (bytes) over entry symbols
  tuple,
  list,          // of parts
  list_of_rows,  // one item for each row of the array in output `index`: numbers or arrays as `item` says (lists of numbers if
                 // rows have an axis); then the items in parts
  list_of_tuples,  // tuples of the items of the lists parts[:index]; then the remaining parts
  list_of_lists,   // lists of the items of the lists parts[:index]; then the remaining parts
  dict,            // parts: key, value, key, value, ...
  instance,        // of the class `object`, made without calling it; parts: name, value, name, value, ... of the attributes
  slice,           // parts: start, stop, step
  iterator,        // iter(parts[0]) advanced `index` times; with parts[1]: a sequence iterator at that index
  call,            // object(parts...): a built-in that runs no user code (range, enumerate, zip, format of a number)
  method,          // bound method: parts[0] is the function or the descriptor of a built-in method, parts[1] self
  attribute,       // getattr(parts[0], object) of a built-in type; runs no user code
  cell,            // new cell holding parts[0]
  function,  // new function: object = code, parts: globals, defaults|null, kwdefaults|null, closure|null, annotations|null
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
  std::vector<int> borrowed;     // the slots (locals, then stack) that own no reference: the caller has another
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
