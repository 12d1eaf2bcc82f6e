#pragma once
// The state of a path of the walk: saved where paths fork or meet, restored when the walk continues there. Paths share the
// identities of abstract values and storages; their contents, which can change, are in the state.

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/domain/value.h"
#include "capture/interpreter/frame.h"
#include "capture/product/call_site.h"

namespace accel {

class Capture;

// A loop of the graph that a path is in: this version of the loop's header dominates the block of the path.
struct PassedLoop {
  int version = 0;
  size_t depth = 0;  // of the loop's frame
  int frame = 0;     // its id
  int header = 0;
  // Of a loop in a generator's frame: the loop that consumes the generator, in a frame that is no generator's. The path is in
  // the generator's loop as long as it is in that one.
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

// Copies the contents of what `frames` reach. `roots`: further values whose contents belong to the state.
void save_objects(PathState& state, const std::vector<Ref>& roots);
// Puts the contents back into the objects.
void restore_objects(const PathState& state);

}  // namespace accel
