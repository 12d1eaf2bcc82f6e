#include "toolchain/notices.h"

#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "toolchain/fork.h"

namespace accel {
namespace {

struct Notices {
  std::mutex mutex;
  WarningSink sink;
  std::set<std::pair<Reason, std::string>> reported;
  std::vector<std::pair<Reason, std::string>> pending;  // reported before a sink was there
};

Notices& notices() { return process_wide<Notices>(); }

}  // namespace

void set_warning_sink(WarningSink sink) {
  std::vector<std::pair<Reason, std::string>> pending;
  {
    std::lock_guard lock(notices().mutex);
    notices().sink = sink;
    if (sink) pending.swap(notices().pending);
  }
  for (auto& [reason, detail] : pending) sink(reason, detail);
}

void warn_once(Reason reason, std::string_view kind, std::string detail) {
  WarningSink sink;
  {
    std::lock_guard lock(notices().mutex);
    if (!notices().reported.emplace(reason, kind).second) return;
    sink = notices().sink;
    if (!sink) notices().pending.emplace_back(reason, detail);
  }
  if (sink) sink(reason, std::move(detail));
}

void reset_warnings() {
  std::lock_guard lock(notices().mutex);
  notices().reported.clear();
  notices().pending.clear();
}

}  // namespace accel
