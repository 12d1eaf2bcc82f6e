#pragma once
// What one attempt at a capture hands to the next one, and the exceptions that end an attempt or an instruction early.
//
// Capture is deterministic. An attempt that finds out something which it should have known earlier adds it to the log and is
// dropped (Restart); the next attempt starts from the log. An addition may change the path of the walk, and with it the numbers
// of symbols and the positions of instructions: both are counted along the walk. Records whose keys are such numbers are erased
// then (forget_numbering). All other keys are texts that are the same in every attempt: of sources (Sources::text), of places
// in the code (place_of) and of slots of a path's state (StateSlot::name).

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "capture/context/sources/sources.h"
#include "capture/domain/element_type.h"
#include "capture/domain/value.h"
#include "capture/product/call_site.h"
#include "capture/product/captured.h"

namespace accel {

// A guard says that a symbol equals a Dim over symbols of lower numbers.
struct Substitution {
  std::string text;                                // of the Dim
  std::vector<std::pair<int, std::string>> names;  // of the symbol and of those in the text
};

// What is known of numbers of the caller.
struct NumberSpeculation {
  std::map<int, Substitution> substitutions;  // by number of the symbol: does not survive a renumbering
  std::set<std::string> promoted;             // sources whose numbers must be constants
};

// What is known of objects of the caller. All keys are texts of sources and survive a renumbering.
struct ObjectSpeculation {
  // Objects that the code changes: names of attributes that it sets, or that lead to others of these objects.
  std::map<std::string, std::set<std::string>> changed;
  // Attributes and items that calls of the process may see: every exit stores them.
  std::map<std::string, std::set<std::string>> shown;
  // Objects that only the interpreter may change, and what shares their names.
  std::map<std::string, std::string> left_alone;
  // Pairs of arrays of which one is written, and the other one is the same object, or shares memory with it.
  std::set<std::pair<std::string, std::string>> same, shared;
  // What is looked at before the walk begins, because loops change it.
  std::map<std::string, SeenPlace> early;
  // Containers that calls of the process get: what they hold is not looked at in advance.
  std::set<std::string> opaque;
};

// What is known of loops. All keys are names of places, and survive a renumbering.
struct LoopSpeculation {
  std::map<std::string, std::set<std::string>> widened;  // by version of a loop: slots whose values differ between its edges
  std::map<std::string, std::map<std::string, RowType>> dynamic_lists;  // by version and slot: the types of the lists' rows
  std::set<std::string> untied;                                         // extents that do not follow the number of iterations
  std::set<std::string> rolled;                                         // must be loops of the graph
  std::set<std::string> unrolled;                                       // capture must unroll them
  std::set<std::string> given_up;                                       // are left to the interpreter
  // Sources of arrays that nothing in the loop changes but that decide whether it ends: other threads may change them.
  std::map<std::string, std::set<std::string>> awaited;
  std::set<std::string> waiting;  // nothing that the loop does makes it end
};

// The interpreter continues at a position because what follows cannot be captured.
struct PlannedExit {
  Failure why;
  std::string file;  // of the instruction that cannot be captured
  int line = 0;
  int64_t failed = 0;  // its position
  std::string place;   // of the exit; empty: not known
};

// Compiled code asks the process to make a call.
struct PlannedCall {
  Failure why;           // it is not compiled
  bool possible = true;  // false: it cannot be made from compiled code either
};

// What is known of branches, exits, calls and generators.
struct ControlSpeculation {
  std::map<int64_t, PlannedExit> exits;  // by position: does not survive a renumbering
  // The others are by name of place, and survive it.
  // Branches at which the path cannot fork: the direction that is captured, the other one exits; none: neither can be captured.
  std::map<std::string, std::optional<bool>> taken;
  // Where a generator, or another iterable by a builtin, is consumed and its code is walked like a loop of Python code instead
  // of being evaluated at capture; false: that does not work either.
  std::map<std::string, bool> walked;
  std::map<std::string, PlannedCall> calls;
  bool watch = false;  // find out where frames can be rebuilt
};

// What is known before the first attempt: from earlier versions of the function, and from options.
struct GivenSpeculation {
  const std::map<std::string, SeenResult>* seen_results = nullptr;  // of calls of the process, by place
  bool fixed_sizes = false;                                         // extents are constants
  std::set<Reason> learned;                 // assumptions that failed in earlier versions: both cases are compiled
  std::set<std::string> changed_constants;  // sources that are data wherever they are
};

struct SpeculationLog {
  NumberSpeculation numbers;
  ObjectSpeculation objects;
  LoopSpeculation loops;
  ControlSpeculation control;
  GivenSpeculation given;

  // The walk ends at a position; exits at later positions are erased. False: it was to end there already.
  bool end_at(int64_t position, PlannedExit exit) {
    control.exits.erase(control.exits.upper_bound(position), control.exits.end());
    return control.exits.emplace(position, std::move(exit)).second;
  }
  // The walk may differ from an instruction on: its position, and the number of the next symbol there.
  void forget_from(int64_t position, int symbol) {
    control.exits.erase(control.exits.lower_bound(position), control.exits.end());
    numbers.substitutions.erase(numbers.substitutions.lower_bound(symbol), numbers.substitutions.end());
  }
  // The walk may differ from its start on.
  void forget_numbering() {
    numbers.substitutions.clear();
    control.exits.clear();
  }
};

// The log has got an addition: capture() starts a new attempt. Never crosses a CPython frame.
struct Restart {};

// The instruction that is captured is left to the interpreter, where no Result can say so. Caught where it was begun.
struct InstructionBailout {
  Failure why;
};

// The whole function is left to the interpreter: an exit would hand over copies of objects, and the code after it asks for the
// identity of those. Caught by capture().
struct FunctionBailout {
  Failure why;
};

}  // namespace accel
