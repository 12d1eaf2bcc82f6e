#pragma once
// The memory of arrays: its versions as graph values, views of it, stores to it, and what must hold so that a store to an
// argument's memory means in compiled code what it means in Python.

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

  // Throws InstructionBailout for more axes than NumPy's arrays may have.
  Ref view_of(const Ref& array, ViewStep step, Lens lens, ValueId value);
  // Current contents of an array, derived again when its storage was stored to.
  ValueId read(const Ref& array);
  // Whether the argument at a source is writeable; guards on it.
  bool is_writeable(SourceId source);
  // A call is made that may change every array of the caller's: its memory has new contents.
  void reload();
  // A call is made that may change these arrays of the caller's, which are named by the texts of their sources.
  void reload(const std::set<std::string>& arrays);
  // Whether a call on this path may have changed every array of the caller's.
  bool& is_stale() { return is_stale_; }
  // The text of the source of the array that an input of the graph is; empty: it is none.
  std::string array_of_input(ValueId input) const;
  // The whole memory, current version.
  ValueId contents(const Storage& storage);
  // The current version as far as the graph has it: adds no node for an argument that a call may have changed since.
  ValueId known_contents(const Storage& storage);
  // Whether the array's memory can be stored to, with guards on what that needs. Before anything is emitted.
  Status check_storable(const Ref& array);
  // The array's elements, where `mask` holds if there is one, become those of `value`: a new version of the memory. Value and
  // mask have the array's shape, or rank 0. Requires check_storable().
  void store(const Ref& array, ValueId value, ValueId mask = no_value);
  // The value of another source whose object is `seen`, where one object has both names; else null.
  Ref alias_of(SourceId source, PyObject* seen);
  // The array at `source` has the guard of this index.
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
  std::unordered_map<SourceId, size_t> array_guards_;  // index into guards
  std::map<SourceId, ValueId> array_inputs_;           // arguments whose memory the graph reads or writes
  std::set<SourceId> written_;                         // those that it writes
  bool is_stale_ = false;
};

}  // namespace accel
