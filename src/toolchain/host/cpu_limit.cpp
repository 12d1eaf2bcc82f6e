#include "toolchain/host/cpu_limit.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "toolchain/files.h"

namespace accel {
namespace {

// The part of a processor that a process which gets on has at least.
constexpr double least_share = 0.01;

// Fields of /proc/<pid>/stat, counted from the one after the program's name.
constexpr size_t group_field = 2, first_time_field = 11, time_fields = 4;  // utime, stime, cutime, cstime

// The integers that follow the program's name, 0 for the letter of the state. Streams are not used: they read numbers by the
// locale, which fails where the process has a second C++ library.
std::vector<long> fields_of(std::string_view stat) {
  size_t name_end = stat.rfind(')');  // the name may hold anything
  std::vector<long> fields;
  const char* end = stat.data() + stat.size();
  const char* at = name_end == stat.npos ? end : stat.data() + name_end + 1;
  while (at < end) {
    if (*at == ' ' || *at == '\n') {
      ++at;
      continue;
    }
    long value = 0;
    std::from_chars(at, end, value);
    fields.push_back(value);
    at = std::find(at, end, ' ');
  }
  return fields;
}

// Seconds that a process and its finished children have used, when it belongs to the group.
double seconds_of(std::string_view stat, pid_t group) {
  std::vector<long> fields = fields_of(stat);
  if (fields.size() < first_time_field + time_fields || fields[group_field] != group) return 0;
  long ticks = 0;
  for (size_t k = 0; k < time_fields; ++k) ticks += std::max(fields[first_time_field + k], 0L);
  return static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
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
  // A compiler and its assembler run at the same time: they use processor time at most three times as fast as time passes.
  next_look_ = now + std::max(duration_of((seconds_ - *used) / 3), duration_of(0.05));
  return false;
}

}  // namespace accel
