#include "toolchain/cpu_limit.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include "toolchain/files.h"

namespace accel {
namespace {

// The part of a processor that a process which gets on has at least.
constexpr double least_share = 0.01;

// Seconds that a process and its finished children have used, when it belongs to the group; from /proc/<pid>/stat.
double seconds_of(const std::string& stat, pid_t group) {
  size_t name_end = stat.rfind(')');  // the name may hold anything
  if (name_end == stat.npos) return 0;
  std::istringstream fields(stat.substr(name_end + 1));
  char state = 0;
  long parent = 0, its_group = 0, ticks = 0, sum = 0;
  fields >> state >> parent >> its_group;
  if (its_group != group) return 0;
  std::string skipped;
  for (int k = 0; k < 8; k++) fields >> skipped;                              // session to cmajflt
  for (int k = 0; k < 4 && fields >> ticks; k++) sum += std::max(ticks, 0L);  // utime, stime, cutime, cstime
  return static_cast<double>(sum) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

// Of all processes of the group; nullopt: /proc cannot be read.
std::optional<double> cpu_seconds(pid_t group) {
  std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc"), closedir);
  if (!folder) return std::nullopt;
  double sum = 0;
  while (const dirent* entry = readdir(folder.get())) {
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) == 0) continue;
    auto stat = read_file(std::string("/proc/") + entry->d_name + "/stat");
    if (stat) sum += seconds_of(*stat, group);
  }
  return sum;
}

}  // namespace

CpuLimit::Clock::duration CpuLimit::duration_of(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

CpuLimit::CpuLimit(pid_t group, double seconds)
    : group_(group),
      seconds_(std::clamp(seconds, 0.0, 1e6)),
      next_look_(Clock::now() + duration_of(seconds_)),
      progress_due_(next_look_) {}

bool CpuLimit::is_over() {
  Clock::time_point now = Clock::now();
  if (now < next_look_) return false;
  std::optional<double> used = cpu_seconds(group_);
  if (!used || *used >= seconds_) return true;
  if (now >= progress_due_) {
    if (*used - used_before_ < least_share * seconds_) return true;
    used_before_ = *used;
    progress_due_ = now + duration_of(seconds_);
  }
  // A compiler and its assembler run at the same time: the rest lasts a third of what is left at least.
  next_look_ = now + std::max(duration_of((seconds_ - *used) / 3), duration_of(0.05));
  return false;
}

}  // namespace accel
