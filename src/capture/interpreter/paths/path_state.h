#pragma once
// PathState: where one path of the walk through the bytecode stands. Saved where paths part or meet, restored when the walk
// goes on there. The identity of abstract values and storages is shared between paths; what can change of them is in the state.

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/domain/value.h"
#include "capture/interpreter/frame.h"
#include "capture/product/call_site.h"

namespace accel {

class Capture;

// A loop of the graph that a path is in: every way to the path goes through this version of the loop's header.
struct PassedLoop {
  int version = 0;
  size_t depth = 0;  // of the loop's frame
  int frame = 0;     // its id
  int header = 0;
  // Of a generator's frame: the loop that consumes it, in a frame that is no generator's. The generator's loop goes on as long
  // as that one does.
  size_t consumer_depth = 0;
  int consumer = -1, consumer_header = 0;
  bool operator==(const PassedLoop&) const = default;
};

struct PathState {
  BlockId block = 0;
  std::vector<Frame> frames;
  std::unordered_map<const AbstractValue*, AbstractValue> objects;  // contents
  std::unordered_map<const Storage*, Storage> storages;
  std::vector<Ref> keep_objects;
  std::vector<std::shared_ptr<Storage>> keep_storages;
  std::vector<Dim> facts;  // each is known to be >= 0
  Errstate errstate;
  std::vector<Ref> errstate_tokens;
  bool memory_is_stale = false;  // a call that may change the caller's arrays has been made
  std::vector<PassedLoop> passed;
  bool at_rolled_loop = false;  // waits at the header of a loop that becomes a loop of the graph
  int forks = 0;
  int64_t lasting_effects = 0;
  int64_t writable = -1;  // position of the last instruction before which all frames could be rebuilt

  // What an object or a storage holds on this path.
  const AbstractValue& of(const Ref& value) const;
  Storage of(const std::shared_ptr<Storage>& storage) const;
};

// Copies what `frames` reach. `roots`: further values whose contents belong to the state.
void save_objects(PathState& state, const std::vector<Ref>& roots);
// Puts the contents back into the objects.
void restore_objects(const PathState& state);

}  // namespace accel
