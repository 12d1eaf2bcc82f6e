#pragma once
// BoxedCall: a call of a Python callable that compiled code asks the process to make. Product of capture.

#include <memory>
#include <vector>

#include "capture/product/device_form.h"
#include "capture/product/event_sites.h"
#include "capture/product/recipe.h"
#include "cpython/py_ref.h"
#include "guard/guard_set.h"
#include "ir/graph.h"

namespace accel {

// How one argument of a call is made.
struct CallPart {
  enum class Kind : uint8_t { constant, source, operand, tuple, list } kind = Kind::constant;
  PyRef object;          // constant
  SourceId source = -1;  // the object at a source
  int operand = -1;      // an operand of the op: an array over the kernel's memory, or a number
  std::vector<CallPart> items;
};

// What compiled code assumes of the result of a call. Any other result ends the run immediately after the call.
enum class ResultKind : uint8_t {
  unknown,   // nothing: the run ends with every result
  ignored,   // nothing: the result is not used
  none,      // None
  number,    // of the type of the op's last result
  array,     // of the type of the op's last result
  argument,  // one of PythonCall::candidates
  object,    // of the type SeenResult::object_type; compiled code refers to it by its number
};

// The result of a call as an earlier run observed it.
struct SeenResult {
  ResultKind kind = ResultKind::unknown;  // unknown: no object that compiled code can handle
  Type type;                              // number, array
  int argument = -1;                      // index into the candidates
  PyRef object_type;                      // object
};

// A call of code that is not captured: the callable and its arguments, and the frames that wait for the call.
struct PythonCall {
  std::vector<Recipe> recipes;       // the outputs that they refer to are operands of the op
  std::vector<FrameRecipe> frames;   // outermost first; every one waits for a call
  std::vector<BoundSymbol> symbols;  // symbols that recipes use in addition to the entry's
  RecipeId callable = -1;
  std::vector<RecipeId> arguments;   // positional ones, then those of BoxedCall::keywords
  std::vector<int> borrowed;         // numbers of the arguments that own no reference: variables of the frames own them
  std::vector<StoreRecipe> stores;   // made before the call
  std::vector<RecipeId> candidates;  // objects that the call may return: its arguments, and the instance of a bound method
  std::vector<RecipeId> shown;  // objects that the callable can reach and that are used after the call. The run numbers each of
                                // them; the numbers are the first results of the op, in this order
  std::vector<RecipeId> named;  // objects of the frames that the run knows by number already
  std::vector<RecipeId> derived;  // members of `named` that are no variable but parts of a text or tuple
  std::vector<RecipeId> watched;  // fresh arrays of the frames, their views and containers: the callee must not retain one
  std::vector<RecipeId> changed;  // arrays of `watched` that the callable can reach: their elements are the op's next results
  ResultKind result = ResultKind::unknown;  // number, object: the op has its number as a result after those of `shown`
  int argument = -1;                        // ResultKind::argument: index into the candidates
  PyRef object_type;                        // ResultKind::object
  std::string name;                         // of the callable, for messages
  std::string place;                        // name of the call's location in the code, stable between captures
  Location where;
};

struct BoxedCall {
  std::shared_ptr<const PythonCall> python;  // of code that is not captured; replaces `callable` and `arguments`
  PyRef callable;
  std::vector<CallPart> arguments;  // positional ones, then those of `keywords`
  PyRef keywords;                   // a tuple of names, null when there are none
  std::vector<Type> operands;       // of the operands of the op: kinds, dtypes, ranks
  std::vector<Type> results;        // kinds, dtypes, ranks, memory orders; the receiving ops have the extents
  bool gives_tuple = false;         // the callable returns a tuple of all results; false: a single result
  int changed = -1;            // index of the operand that the callable writes to; it gets a copy, which is the first result
  bool drops_answer = false;   // with `changed`: the return value of the callable is ignored
  bool raises_events = false;  // a ufunc: the call fails on an event that neither the caller nor the code ignores
  Errstate errstate;           // as the code has set it at the call
  DeviceForm device_form;      // nothing: devices have no kernels for it, and NumPy is called there, too
  int draw = -1;               // row of rng_functions.inc with the C function that draws the same numbers; -1: none
  int generator = -1;          // argument, a numpy.random.Generator or RandomState; a run that fails restores its state
  bool legacy = false;         // the generator is a RandomState
  bool keeps_gauss = true;     // of a RandomState: the call leaves the stored second normal number unchanged
};

}  // namespace accel
