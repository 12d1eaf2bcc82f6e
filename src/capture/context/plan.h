#pragma once
// What one attempt at a capture hands to the next one, and how an attempt ends before its time.

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

// What earlier attempts at the same capture found out. Capture is deterministic, so an attempt that learns something which it
// should have known before is dropped and repeated.
struct Plan {
  // By symbol, what it equals (a guard says so). What was learnt may change what the walk meets, and so the numbers of symbols.
  struct Substitution {
    std::string text;                                // of a Dim over lower symbols
    std::vector<std::pair<int, std::string>> names;  // of the symbol and of those in the text
  };
  std::map<int, Substitution> substitutions;
  std::set<std::string> promoted;  // texts of the sources whose numbers must be constants
  // By the text of its source, an object that the code changes: names of attributes that it sets, or that lead to others of
  // these.
  std::map<std::string, std::set<std::string>> changed;
  // The same of attributes and items that calls of the process may see: every exit stores them.
  std::map<std::string, std::set<std::string>> shown;
  // Objects that only the interpreter may change, and what shares their names, by the texts of their sources.
  std::map<std::string, std::string> left_alone;
  // Texts of array sources of which one is written, and the other one is the same object, or shares memory with it.
  std::set<std::pair<std::string, std::string>> same, shared;
  // Places that are looked at before all others, by the texts of their sources: loops change what is there.
  std::map<std::string, SeenPlace> early;

  // Where paths meet, by the place's name.
  // Slots whose values differ between the edges into a loop's header, by loop.
  std::map<std::string, std::set<std::string>> widened;
  // Dynamic lists: the types of their rows, by loop and slot.
  std::map<std::string, std::map<std::string, RowType>> dynamic_lists;
  std::set<std::string> untied;    // extents that are no function of the iteration number of their loop
  std::set<std::string> rolled;    // loops that must be loops of the graph
  std::set<std::string> unrolled;  // loops that capture must unroll
  std::set<std::string> given_up;  // loops that are left to the interpreter
  // By loop, arrays that nothing in it changes but that decide whether it ends: somebody else may. Texts of sources.
  std::map<std::string, std::set<std::string>> awaited;
  std::set<std::string> waiting;  // loops that nothing they do makes end
  // Branches where the path cannot part, by place: the way that is taken, all others leave; none: neither way can be captured.
  std::map<std::string, std::optional<bool>> taken;
  // Exits for what cannot be captured, by position.
  struct PlannedExit {
    Failure why;
    std::string file;  // of the instruction that cannot be captured
    int line = 0;
    int64_t failed = 0;  // its position
    std::string place;   // where the exit is; empty: not known
  };
  std::map<int64_t, PlannedExit> exits;
  // Places that consume a generator, or another iterable by a builtin, and are walked like loops of Python code instead of
  // being evaluated at capture; false: that does not work either.
  std::map<std::string, bool> walked;
  // Calls that compiled code asks the process to make, by place.
  struct PlannedCall {
    Failure why;           // it is not compiled
    bool possible = true;  // false: it cannot be made from compiled code either
  };
  std::map<std::string, PlannedCall> boxed;
  std::set<std::string> opaque;  // texts of the sources of containers that such calls get: nobody looks into them in advance
  const std::map<std::string, SeenResult>* seen_results = nullptr;
  bool watch = false;                       // find out where frames can be rebuilt
  bool fixed_sizes = false;                 // extents are constants
  std::set<Reason> learned;                 // assumptions that failed in earlier versions: both cases are compiled
  std::set<std::string> changed_constants;  // texts of sources that are data wherever they are

  // The walk ends at a position: those behind it are of other instructions now. False: it was to end there already.
  bool end_at(int64_t position, PlannedExit exit) {
    exits.erase(exits.upper_bound(position), exits.end());
    return exits.emplace(position, std::move(exit)).second;
  }
  // Numbers of symbols and positions hold only as long as the walk takes the same ways.
  void forget_from(int64_t position, int symbol) {
    exits.erase(exits.lower_bound(position), exits.end());
    substitutions.erase(substitutions.lower_bound(symbol), substitutions.end());
  }
  void forget_numbering() {
    substitutions.clear();
    exits.clear();
  }
};

// Thrown when the plan got an addition, caught by capture(). Never crosses a CPython frame.
struct Restart {};
// Thrown by what has no other way to say that the instruction has to be left to the interpreter; caught likewise.
struct Abandoned {
  Failure why;
};

// Thrown where an exit would hand over objects that the code behind it tells from those it made itself: all of the function is
// left to the interpreter. Caught by capture().
struct Refused {
  Failure why;
};

}  // namespace accel
