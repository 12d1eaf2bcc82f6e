#pragma once
// Comparing the states of two paths that come to the same instruction, and joining them.

#include <optional>
#include <string>
#include <vector>

#include "capture/path_state.h"

namespace accel {

// A place in a state whose value may differ between paths without changing what the code after it means: a number, or the
// contents of memory that the captured code made or that is an argument's.
struct StateSlot {
  std::string name;  // the same in every attempt: "frame 0 local 3 item 1"
  // Number: its place. Memory: null.
  int frame = -1;
  enum class Place : uint8_t { local, stack, item, memory } place = Place::local;
  size_t index = 0;
  Ref container;  // item
  Ref target, arriving;
  std::shared_ptr<Storage> target_memory, arriving_memory;
  bool equal = false;
};

struct StateMatch {
  bool fits = false;             // the same kinds of objects, types, aliases and constants
  std::vector<StateSlot> slots;  // of all numbers and memory, in a fixed order
};

// Whether `arriving` can go on where `target` does. Requires that both are at the same instructions of the same code.
StateMatch match_states(Capture& capture, const PathState& target, const PathState& arriving);

// The type that a block parameter for a number has; nullopt: not a number that a graph can hold.
std::optional<Type> number_type(const AbstractValue& value);

// Puts block parameter `param` into a slot of `target`.
void widen(PathState& target, const StateSlot& slot, ValueId param, const Type& type);

}  // namespace accel
