#include "dispatch/notices.h"

#include <mutex>
#include <utility>
#include <vector>

#include "dispatch/python_errors.h"

namespace accel {
namespace {

// Never destroyed: threads may still report while the process ends.
struct Notices {
  std::mutex mutex;
  std::vector<std::pair<Reason, std::string>> kept;
};

// The dispatcher reports these itself, with the function's name.
constexpr Reason reported_by_function[] = {Reason::compiler_failed, Reason::compiler_timeout, Reason::load_failed};

Notices& notices() {
  static Notices* all = new Notices;
  return *all;
}

}  // namespace

void keep_notice(Reason reason, std::string detail) {
  for (Reason other : reported_by_function) {
    if (reason == other) return;
  }
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
