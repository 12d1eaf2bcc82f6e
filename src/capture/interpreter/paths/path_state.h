#pragma once
// The state of a path: saved where paths fork or wait, restored when the walk continues there. Paths share the identities of
// abstract values and storages; contents, which can change, belong to the state.

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/domain/value.h"
#include "capture/interpreter/frame.h"
#include "capture/product/call_site.h"

namespace accel {

class Capture;

// A loop that the path is in: this version of its header dominates the current block.
struct PassedLoop {
  int version = 0;
  size_t depth = 0;  // index of the loop's frame
  int frame = 0;     // id of that frame
  int header = 0;
  // For a loop in a generator's frame: the loop that consumes the generator, in a frame that is no generator's. The path is in
  // the generator's loop as long as it is in the consumer's loop.
  size_t consumer_depth = 0;
  int consumer = -1, consumer_header = 0;
  bool operator==(const PassedLoop&) const = default;
};

struct PathState {
  BlockId block = 0;
  std::vector<Frame> frames;
  std::unordered_map<const AbstractValue*, AbstractValue> objects;  // contents of abstract values
  std::unordered_map<const Storage*, Storage> storages;
  std::vector<Ref> keep_objects;
  std::vector<std::shared_ptr<Storage>> keep_storages;
  std::vector<Dim> facts;  // each is >= 0
  Errstate errstate;
  std::vector<Ref> errstate_tokens;
  bool memory_is_stale = false;  // a call was made that may have changed the caller's arrays
  std::vector<PassedLoop> passed;
  bool at_rolled_loop = false;  // waits at the header of a loop of the graph
  int forks = 0;
  int64_t lasting_effects = 0;
  int64_t writable = -1;  // position of the last instruction before which all frames could be rebuilt

  // The contents of an object or a storage on this path.
  const AbstractValue& of(const Ref& value) const;
  Storage of(const std::shared_ptr<Storage>& storage) const;
};

// Saves the contents of everything reachable from `frames`, and from `roots`.
void save_objects(PathState& state, const std::vector<Ref>& roots);
// Writes the saved contents back into the objects.
void restore_objects(const PathState& state);

}  // namespace accel
