#pragma once
// BoxedCall: a call of a Python callable that compiled code asks the process to make. Product of capture.

#include <memory>
#include <vector>

#include "capture/product/event_sites.h"
#include "capture/product/recipe.h"
#include "cpython/py_ref.h"
#include "guard/guard_set.h"
#include "ir/graph.h"

namespace accel {

// How one argument is made.
struct CallPart {
  enum class Kind : uint8_t { constant, source, operand, tuple, list } kind = Kind::constant;
  PyRef object;          // constant
  SourceId source = -1;  // the object at a source
  int operand = -1;      // an operand of the op: an array over the kernel's memory, or a number
  std::vector<CallPart> items;
};

// What is assumed of the object that a call gives. Another one ends the run right behind the call.
enum class ResultKind : uint8_t {
  unknown,   // every object ends the run
  ignored,   // any object
  none,      // None
  number,    // of the type of the call's last result
  array,     // the same
  argument,  // one of PythonCall::candidates
  object,    // of the type SeenResult::object_type, known by its number alone
};

// What a call gave that was made before.
struct SeenResult {
  ResultKind kind = ResultKind::unknown;  // unknown: an object that compiled code cannot take
  Type type;                              // number, array
  int argument = -1;                      // of the candidates
  PyRef object_type;                      // object
};

// A call that may do anything: the frames that wait for it, and what is called with what.
struct PythonCall {
  std::vector<Recipe> recipes;       // outputs are the operands of the op
  std::vector<FrameRecipe> frames;   // outermost first; all wait
  std::vector<BoundSymbol> symbols;  // what recipes name beside the entry's symbols
  RecipeId callable = -1;
  std::vector<RecipeId> arguments;   // positional ones, then those of BoxedCall::keywords
  std::vector<StoreRecipe> stores;   // made before the call
  std::vector<RecipeId> candidates;  // what the call may give back: its arguments, and the object that a method is bound to
  std::vector<RecipeId> shown;  // what the callable can get at and the code goes on with: each is one object from now on, whose
                                // number is one of the first results of the op, in this order
  std::vector<RecipeId> named;  // objects of the frames that the run knows by number
  std::vector<RecipeId> derived;  // those of `named` that are no variable: a text is made of them, or a tuple holds them
  std::vector<RecipeId> watched;  // fresh arrays of the frames, views of them, and what holds such: nobody else may have one
  std::vector<RecipeId> changed;  // those that the callable can get at: their elements are the next results of the op
  ResultKind result = ResultKind::unknown;  // number, object: its number follows those of `shown`
  int argument = -1;                        // ResultKind::argument: of the candidates
  PyRef object_type;                        // ResultKind::object
  std::string name;                         // of the callable, for people
  std::string place;                        // of the call, the same in every capture
  Location where;
};

struct BoxedCall {
  std::shared_ptr<const PythonCall> python;  // then neither callable nor arguments are here
  PyRef callable;
  std::vector<CallPart> arguments;  // the positional ones, then those of `keywords`
  PyRef keywords;                   // a tuple of names, null when there are none
  std::vector<Type> operands;       // of the op: kinds, dtypes, ranks
  std::vector<Type> results;        // kinds, dtypes, ranks, memory orders; the extents are those of the ops that receive them
  bool gives_tuple = false;         // of the results; else there is one
  int changed = -1;                 // operand that the callable changes: it gets a copy, which is the first result
  bool drops_answer = false;        // with `changed`: what the callable returns is no result
  bool raises_events = false;       // a ufunc: an event that the caller or the code does not ignore makes the call fail
  Errstate errstate;                // of the code around the call
  int draw = -1;                    // row of rng_functions.inc: the C function that does the same, for the op of that name
  int generator = -1;       // argument, a numpy.random.Generator or RandomState, whose state a run that fails has to restore
  bool legacy = false;      // that argument is a RandomState,
  bool keeps_gauss = true;  // whose second normal number, kept for later, stays
};

}  // namespace accel
