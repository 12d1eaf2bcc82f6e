#pragma once
// Counts references to objects and to memory within the state of a path.

#include <set>
#include <unordered_map>
#include <vector>

#include "capture/interpreter/paths/path_state.h"

namespace accel {

// The number of references to each object in a state, and of arrays over each storage.
class References {
 public:
  explicit References(const PathState& state) {
    for (const Frame& frame : state.frames) {
      for (const auto* values : {&frame.locals, &frame.stack, &frame.closure}) add(*values);
      add({frame.function, frame.generator});
    }
    for (const auto& [object, contents] : state.objects) {
      add(contents.items);
      add({contents.iterated, contents.columns});
      if (contents.iterated) iterated_.insert(contents.iterated.get());
      bool in_memory = contents.kind == AbstractKind::array || contents.kind == AbstractKind::masked_selection;
      if (in_memory) ++arrays_[contents.array.storage.get()];
    }
    for (const auto& [storage, contents] : state.storages) {
      if (contents.maybe) ++arrays_[contents.maybe.get()];
    }
  }

  // Whether the state has exactly one reference to the value.
  bool is_named_once(const Ref& value) const { return count(objects_, value.get()) == 1; }
  // Whether an array is referred to by one list only and shares its memory with no other array.
  bool is_alone(const Ref& item) const {
    return item->kind != AbstractKind::array ||
           (count(objects_, item.get()) == 1 && count(arrays_, item->array.storage.get()) == 1);
  }
  bool is_iterated(const Ref& list) const { return iterated_.contains(list.get()); }

 private:
  void add(const std::vector<Ref>& values) {
    for (const Ref& value : values) {
      if (value) ++objects_[value.get()];
    }
  }
  template <class Key>
  static int count(const std::unordered_map<const Key*, int>& counts, const Key* key) {
    auto found = counts.find(key);
    return found == counts.end() ? 0 : found->second;
  }

  std::unordered_map<const AbstractValue*, int> objects_;
  std::unordered_map<const Storage*, int> arrays_;
  std::set<const AbstractValue*> iterated_;
};

}  // namespace accel
