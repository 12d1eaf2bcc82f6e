#include "dispatch/versions/version_list.h"

#include <algorithm>

namespace accel {

void Versions::add(std::unique_ptr<Entry> entry) {
  hot_ = list_.size();
  list_.emplace_back(std::move(entry));
}

bool Versions::drop(const Entry& entry) {
  auto found = std::find_if(list_.begin(), list_.end(), [&](const EntryHold& version) { return &*version == &entry; });
  if (found == list_.end()) return false;
  EntryHold dropped = *found;  // outlives its removal from the list
  list_.erase(found);
  hot_ = 0;
  return true;
}

VersionList Versions::take_all() {
  hot_ = 0;
  return std::exchange(list_, {});
}

}  // namespace accel
