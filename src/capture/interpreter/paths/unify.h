#pragma once
// Comparing the states of two paths that come to the same instruction, and joining them.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "capture/domain/element_type.h"
#include "capture/domain/number_type.h"
#include "capture/interpreter/paths/path_state.h"

namespace accel {

// A place in a state whose value may differ between paths without changing what the code after it means: a number, the
// contents of memory that the captured code made or that is an argument's, or an extent of memory that the captured code made.
// A list that the captured code made and appends to is one when it becomes a dynamic one, memory when a list's rows begin to
// hold it.
struct StateSlot {
  std::string name;  // the same in every attempt: "frame 0 local 3 item 1"
  // Number: its place. Memory and extents: null.
  int frame = -1;
  enum class Place : uint8_t { local, stack, item, memory, extent, list, held } place = Place::local;
  size_t index = 0;                                         // extent: the axis
  Ref container;                                            // item
  Ref target, arriving;                                     // number, list
  std::shared_ptr<Storage> target_memory, arriving_memory;  // memory, extent, held
  Dim target_extent, arriving_extent;
  RowType row;               // list: of its items
  bool is_identity = false;  // not the number, object or memory itself but the number by which the run knows the object
  bool equal = false;
};

struct StateMatch {
  bool fits = false;             // the same kinds of objects, types, aliases and constants
  std::vector<StateSlot> slots;  // of all numbers and memory, in a fixed order; the extents of memory come before it
};

// What may differ beside numbers and contents.
struct Resizable {
  const std::set<std::string>* names = nullptr;  // extents
  bool lists = false;                            // lists that were appended to
  bool all = false;                              // all extents
};

// Whether `arriving` can go on where `target` does. Requires that both are at the same instructions of the same code.
StateMatch match_states(Capture& capture, const PathState& target, const PathState& arriving, const Resizable& resizable);

// Of the number by which a run knows an object.
inline const Type identity_type{ValueKind::py_scalar, DType::int64, {}, {}};

// Puts block parameter `param` into a slot of `target`: a number, or memory.
void widen(PathState& target, const StateSlot& slot, ValueId param, const Type& type);

// Memory of `target` is held from now on.
void hold(PathState& target, const std::shared_ptr<Storage>& memory);

// Memory of `target` has this shape from now on, and so have the arrays that are all of it. Its contents are widened next.
void resize(Capture& capture, PathState& target, const std::shared_ptr<Storage>& memory, const std::vector<Dim>& shape);

}  // namespace accel
