#include "capture/interpreter/paths/path_state.h"

#include "capture/context/descent.h"

namespace accel {

const AbstractValue& PathState::of(const Ref& value) const {
  auto found = objects.find(value.get());
  return found == objects.end() ? *value : found->second;
}

// A storage of an argument that this path has not read is unread and unchanged.
Storage PathState::of(const std::shared_ptr<Storage>& storage) const {
  auto found = storages.find(storage.get());
  if (found != storages.end()) return found->second;
  return storage->source < 0 ? *storage : Storage{storage->source, no_value, 0};
}

namespace {

class Saver {
 public:
  explicit Saver(PathState& state) : state_(state) {}

  void save(const Ref& value) {
    // A lazy value is described by its source, and constants never change.
    if (!value || value->kind == AbstractKind::lazy || (value->kind == AbstractKind::constant && value->items.empty())) return;
    if (!state_.objects.emplace(value.get(), *value).second) return;
    const Descent level;
    state_.keep_objects.push_back(value);
    bool in_memory = value->kind == AbstractKind::array || value->kind == AbstractKind::masked_selection;
    bool has_rows = value->kind == AbstractKind::dynamic_list && !value->columns;
    if (in_memory || has_rows) save(value->array.storage);
    for (const Ref& item : value->items) save(item);
    save(value->iterated);
    save(value->columns);
    save(value->identity);
  }

 private:
  void save(const std::shared_ptr<Storage>& storage) {
    if (!state_.storages.emplace(storage.get(), *storage).second) return;
    state_.keep_storages.push_back(storage);
    save(storage->identity);
  }

  PathState& state_;
};

}  // namespace

void save_objects(PathState& state, const std::vector<Ref>& roots) {
  Saver saver(state);
  for (const Frame& frame : state.frames) {
    saver.save(frame.function);
    for (const Ref& value : frame.locals) saver.save(value);
    for (const Ref& value : frame.stack) saver.save(value);
    for (const Ref& value : frame.closure) saver.save(value);
  }
  for (const Ref& root : roots) saver.save(root);
}

void restore_objects(const PathState& state) {
  for (const Ref& value : state.keep_objects) *value = state.objects.at(value.get());
  for (const auto& storage : state.keep_storages) *storage = state.storages.at(storage.get());
}

}  // namespace accel
