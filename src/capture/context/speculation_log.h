#pragma once
// What one attempt at a capture passes on to the next one, and the exceptions that end an attempt or an instruction early.
//
// Capture is deterministic. An attempt that learns something which it should have known earlier adds it to the log and is
// dropped (Restart); the next attempt starts from the log. An addition may change the path of the walk, and with it the numbers
// of symbols and the positions of instructions, which are counted along the walk. Records with such numbers as keys are then
// erased (forget_numbering). All other keys are texts that are stable between attempts: of sources (Sources::text), of
// locations in the code (place_of) and of slots of a path's state (StateSlot::name).

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

// An equality that a guard ensures: a symbol equals a Dim over symbols of lower numbers.
struct Substitution {
  std::string text;                                // of the Dim
  std::vector<std::pair<int, std::string>> names;  // of the symbol and of those in the text
};

// Records about numbers of the caller.
struct NumberSpeculation {
  std::map<int, Substitution> substitutions;  // by symbol number: erased by a renumbering
  std::set<std::string> promoted;             // texts of sources whose numbers must be constants
};

// Records about objects of the caller. All keys are texts of sources and survive a renumbering.
struct ObjectSpeculation {
  // Objects that the code mutates, with the names of the attributes it sets or through which it reaches other such objects.
  std::map<std::string, std::set<std::string>> changed;
  // Attributes and items whose new values calls of the process may have seen: every exit stores them.
  std::map<std::string, std::set<std::string>> shown;
  // Objects that share their attribute dict with another source, so that their mutation is left to the interpreter; the value
  // is that source.
  std::map<std::string, std::string> left_alone;
  // Pairs of a written array and another array: `same`, they are one object; `shared`, they overlap in memory.
  std::set<std::pair<std::string, std::string>> same, shared;
  // Objects that are resolved before the walk begins, because loops change them.
  std::map<std::string, SeenPlace> early;
  // Containers passed to calls of the process: their items are not resolved in advance.
  std::set<std::string> opaque;
};

// Records about loops. All keys are names of code locations (place_of) and survive a renumbering.
struct LoopSpeculation {
  std::map<std::string, std::set<std::string>> widened;  // by loop version: names of the slots that are block parameters
  std::map<std::string, std::map<std::string, RowType>> dynamic_lists;  // by loop version and slot: row types of lists
  std::set<std::string> untied;    // extents that are no linear function of the iteration count
  std::set<std::string> rolled;    // must become loops of the graph
  std::set<std::string> unrolled;  // must be unrolled by capture
  std::set<std::string> given_up;  // left to the interpreter
  // By loop: sources of arrays that it only reads but that decide when it ends, so that another thread may store to them.
  std::map<std::string, std::set<std::string>> awaited;
  std::set<std::string> waiting;  // loops that end when another thread stores a value
};

// An exit at a position of the walk, because what follows cannot be captured.
struct PlannedExit {
  Failure why;
  std::string file;  // of the instruction that cannot be captured
  int line = 0;
  int64_t failed = 0;  // position of the instruction that cannot be captured
  std::string place;   // name of the exit's code location; empty: unknown
};

// A call that compiled code asks the process to make.
struct PlannedCall {
  Failure why;           // why the call is not compiled
  bool possible = true;  // false: the process cannot make it from compiled code either
};

// Records about branches, exits, calls and generators.
struct ControlSpeculation {
  std::map<int64_t, PlannedExit> exits;  // by position: erased by a renumbering
  // All other keys are names of code locations (place_of) and survive a renumbering.
  //
  // `taken`: branches at which the path cannot fork: the direction that is captured, while the other one exits; nullopt:
  // neither direction can be captured.
  std::map<std::string, std::optional<bool>> taken;
  // Locations that consume a generator, or at which a builtin consumes an iterable: whether its code is walked like a loop of
  // Python code instead of being evaluated at capture; false: walking fails as well.
  std::map<std::string, bool> walked;
  std::map<std::string, PlannedCall> calls;
  bool watch = false;  // record the positions at which frames can be rebuilt
};

// Input of the first attempt, from earlier versions of the function and from options.
struct GivenSpeculation {
  const std::map<std::string, SeenResult>* seen_results = nullptr;  // of calls of the process, by place
  bool fixed_sizes = false;                                         // extents are constants
  std::set<Reason> learned;                 // assumptions that failed in earlier versions: both cases are compiled
  std::set<std::string> changed_constants;  // texts of sources whose values are data even where they would be constants
};

struct SpeculationLog {
  NumberSpeculation numbers;
  ObjectSpeculation objects;
  LoopSpeculation loops;
  ControlSpeculation control;
  GivenSpeculation given;

  // Adds an exit at a position and erases those at later positions. False if there was one at the position already.
  bool end_at(int64_t position, PlannedExit exit) {
    control.exits.erase(control.exits.upper_bound(position), control.exits.end());
    return control.exits.emplace(position, std::move(exit)).second;
  }
  // The walk may differ from an instruction on: erases records from its position and from the next symbol's number there.
  void forget_from(int64_t position, int symbol) {
    control.exits.erase(control.exits.lower_bound(position), control.exits.end());
    numbers.substitutions.erase(numbers.substitutions.lower_bound(symbol), numbers.substitutions.end());
  }
  // The walk may differ from its start: erases all records keyed by positions or symbol numbers.
  void forget_numbering() {
    numbers.substitutions.clear();
    control.exits.clear();
  }
};

// The log has a new record: capture() starts the next attempt. Never thrown across a CPython frame.
struct Restart {};

// The running instruction is left to the interpreter, thrown where no Result can be returned. Caught where the instruction
// started.
struct InstructionBailout {
  Failure why;
};

// The whole function is left to the interpreter, because an exit would make copies of objects whose identity later code tests.
// Caught by capture().
struct FunctionBailout {
  Failure why;
};

}  // namespace accel
