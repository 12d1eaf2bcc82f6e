#pragma once
// Memory of arrays: its versions as graph values, views of it, stores to it, and the conditions under which a store to an
// argument's memory means the same in compiled code as in Python.

#include <Python.h>

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "capture/domain/value.h"

namespace accel {

class Capture;

class StorageVersions {
 public:
  explicit StorageVersions(Capture& capture) : capture_(capture) {}

  // An array that is the view of `array` by one more step. Throws InstructionBailout for more axes than NumPy supports.
  Ref view_of(const Ref& array, ViewStep step, StridedLayout layout, ValueId value);
  // The current contents of an array; recomputed if its storage has been stored to since.
  ValueId read(const Ref& array);
  // Whether the argument at a source is writeable, ensured by a guard.
  bool is_writeable(SourceId source);
  // A call follows that may change every array of the caller: their memory gets new contents.
  void reload();
  // A call follows that may change the caller's arrays at these sources (texts): their memory gets new contents.
  void reload(const std::set<std::string>& arrays);
  // Whether a call on this path may have changed every array of the caller.
  bool& is_stale() { return is_stale_; }
  // The text of the source of the array that is this graph input; empty if it is none.
  std::string array_of_input(ValueId input) const;
  // The whole memory at the current version.
  ValueId contents(const Storage& storage);
  // The current version as far as the graph has it; does not reload an argument that a call may have changed.
  ValueId known_contents(const Storage& storage);
  // Whether the array's memory can be stored to, ensured by guards. Must be called before anything is emitted.
  Status check_storable(const Ref& array);
  // Sets the array's elements (where `mask` holds, if given) to those of `value`: a new version of the memory. Value and mask
  // have the array's shape or rank 0. Requires check_storable().
  void store(const Ref& array, ValueId value, ValueId mask = no_value);
  // The value of another source whose object is `seen`, if the log says that both sources have one object; else null.
  Ref alias_of(SourceId source, PyObject* seen);
  // Records the index of the guard of the array at `source`.
  void note_guard(SourceId source, size_t guard) { array_guards_[source] = guard; }

 private:
  Status check_argument(SourceId written);
  bool relate(SourceId written, SourceId other);
  Failure refuse_shared(SourceId written, const std::string& other);
  ValueId input_of(SourceId source);
  ValueId own_contents(ValueId value, const std::vector<uint8_t>& order);
  ValueId viewed(ValueId memory, const std::vector<ViewStep>& path, size_t count);
  ValueId stored(ValueId memory, bool in_order, const std::vector<ViewStep>& path, ValueId value, ValueId mask);

  Capture& capture_;
  std::unordered_map<SourceId, size_t> array_guards_;  // index into GuardSet::guards
  std::map<SourceId, ValueId> array_inputs_;           // arguments whose memory the graph reads or writes
  std::set<SourceId> written_;                         // arguments whose memory the graph writes
  bool is_stale_ = false;
};

}  // namespace accel
