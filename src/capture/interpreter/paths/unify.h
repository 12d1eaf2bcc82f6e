#pragma once
// Comparison of the states of two paths at one instruction, and their join.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "capture/domain/element_type.h"
#include "capture/domain/number_type.h"
#include "capture/interpreter/paths/path_state.h"

namespace accel {

// A part of a path's state that may differ between joined paths, because the following code means the same for both: a number;
// the contents of memory, fresh or of an argument; an extent of fresh memory; a list that becomes a dynamic list; whether
// memory is held by a row of a list.
struct StateSlot {
  std::string name;  // stable between attempts: "frame 0 local 3 item 1"
  // For a number: where the state has it. Unset for memory and extents.
  int frame = -1;
  enum class Place : uint8_t { local, stack, item, memory, extent, list, held } place = Place::local;
  size_t index = 0;                                         // extent: the axis
  Ref container;                                            // item
  Ref target, arriving;                                     // number, list
  std::shared_ptr<Storage> target_memory, arriving_memory;  // memory, extent, held
  Dim target_extent, arriving_extent;
  RowType row;               // list: of its items
  bool is_identity = false;  // the slot is the run's number of the object (AbstractValue::identity), not the object itself
  bool equal = false;
};

struct StateMatch {
  bool fits = false;             // the states have equal kinds of objects, types, aliases and constants
  std::vector<StateSlot> slots;  // all numbers and memory in a fixed order; extents precede their memory
};

// What may differ besides numbers and contents.
struct Resizable {
  const std::set<std::string>* names = nullptr;  // names of extent slots
  bool lists = false;                            // lists that were appended to
  bool all = false;                              // all extents
};

// Compares two states at one instruction of the same code: whether `arriving` can continue as `target` does.
StateMatch match_states(Capture& capture, const PathState& target, const PathState& arriving, const Resizable& resizable);

// The type of AbstractValue::identity.
inline const Type identity_type{ValueKind::py_scalar, DType::int64, {}, {}};

// Replaces the number or memory in a slot of `target` by the block parameter `param`.
void widen(PathState& target, const StateSlot& slot, ValueId param, const Type& type);

// Marks memory of `target` as held by a row of a list.
void hold(PathState& target, const std::shared_ptr<Storage>& memory);

// Changes the shape of memory in `target`, and of the arrays that cover it. The contents must be widened next.
void resize(Capture& capture, PathState& target, const std::shared_ptr<Storage>& memory, const std::vector<Dim>& shape);

}  // namespace accel
