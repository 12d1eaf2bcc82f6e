#include "dispatch/versions/last_call.h"

#include <algorithm>

namespace accel {

const char* answered_name(Answered how) {
  constexpr const char* names[] = {"not_yet", "whole", "left", "interpreted", "raised"};
  return names[static_cast<size_t>(how)];
}

int CallLog::traverse(const VersionList& versions, visitproc visit, void* arg) const {
  if (!last_.entry) return 0;
  auto is_it = [&](const EntryHold& entry) { return &*entry == &**last_.entry; };
  bool listed = std::any_of(versions.begin(), versions.end(), is_it);
  return listed ? 0 : (*last_.entry)->traverse(visit, arg);
}

}  // namespace accel
