#include "dispatch/reports/notices.h"

#include <mutex>
#include <utility>
#include <vector>

#include "dispatch/reports/python_errors.h"

namespace accel {
namespace {

// Never destroyed, as threads may still report while the process ends.
struct Notices {
  std::mutex mutex;
  std::vector<std::pair<Reason, std::string>> kept;
};

Notices& notices() {
  static Notices* all = new Notices;
  return *all;
}

}  // namespace

void keep_notice(Reason reason, std::string detail) {
  std::lock_guard lock(notices().mutex);
  notices().kept.emplace_back(reason, std::move(detail));
}

bool report_notices() {
  std::vector<std::pair<Reason, std::string>> taken;
  {
    std::lock_guard lock(notices().mutex);
    taken.swap(notices().kept);
  }
  for (const auto& [reason, detail] : taken) {
    if (!warn("accel: " + describe(reason, detail))) return false;
  }
  return true;
}

}  // namespace accel
