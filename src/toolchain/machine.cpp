#include "toolchain/machine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/hash.h"
#include "base/memory.h"
#include "toolchain/files.h"

#if defined(__x86_64__)
#include <cpuid.h>
#else
#include <sys/auxv.h>
#endif

namespace accel {
namespace {

#if defined(__x86_64__)

struct Leaf {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

Leaf cpuid(unsigned number, unsigned sub = 0) {
  Leaf leaf;
  __get_cpuid_count(number, sub, &leaf.a, &leaf.b, &leaf.c, &leaf.d);
  return leaf;
}

std::string read_model() {
  char text[49] = {};
  for (unsigned i = 0; i < 3; i++) {
    Leaf leaf = cpuid(0x80000002 + i);
    std::memcpy(text + 16 * i, &leaf, 16);
  }
  std::string model(text);
  model.erase(model.find_last_not_of(' ') + 1);
  return model;
}

// Register state that the system saves on a context switch: without it AVX is off whatever the CPU can do.
uint64_t enabled_state() {
  if (!(cpuid(1).c & bit_OSXSAVE)) return 0;
  unsigned low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

// Leaf 1's EBX is left out: it holds the number of the core.
std::string read_identity() {
  Blake2b hash;
  Leaf vendor = cpuid(0), one = cpuid(1), seven = cpuid(7), seven_one = cpuid(7, 1), extended = cpuid(0x80000001);
  uint64_t state = enabled_state();
  for (unsigned word : {vendor.b, vendor.c, vendor.d, one.a, one.c, one.d, seven.b, seven.c, seven.d, seven_one.a, seven_one.d,
                        extended.c, extended.d})
    hash.update(&word, sizeof word);
  hash.update(&state, sizeof state);
  hash.update_field(cpu_model());
  return hex(hash.finish()).substr(0, 32);
}

std::string read_features() {
  std::string text;
  __builtin_cpu_init();  // not every compiler's library does it when it is loaded
#define FEATURE(name) \
  if (__builtin_cpu_supports(name)) text += text.empty() ? name : " " name;
  FEATURE("sse4.2")
  FEATURE("avx")
  FEATURE("avx2")
  FEATURE("fma")
  FEATURE("avx512f")
  FEATURE("avx512dq")
  FEATURE("avx512bw")
  FEATURE("avx512vl")
#undef FEATURE
  return text;
}

#else

std::string cpuinfo_field(std::string_view name) {
  std::string text = read_file("/proc/cpuinfo").value_or("");
  size_t at = text.find(name);
  if (at == text.npos) return {};
  at = text.find(':', at);
  return at == text.npos ? std::string() : text.substr(at + 1, text.find('\n', at) - at - 1);
}

std::string read_model() { return cpuinfo_field("CPU implementer") + cpuinfo_field("CPU part") + cpuinfo_field("model name"); }

std::string read_identity() {
  return cpu_model() + " " + std::to_string(getauxval(AT_HWCAP)) + " " + std::to_string(getauxval(AT_HWCAP2));
}

std::string read_features() { return cpuinfo_field("Features"); }

#endif

std::optional<double> first_number(const char* path) {
  auto text = read_file(path);
  if (!text || text->empty() || (*text)[0] < '0' || (*text)[0] > '9') return std::nullopt;  // also "max" and -1
  return std::strtod(text->c_str(), nullptr);
}

// CPUs that the control group grants, rounded up; a large number when there is no quota.
int read_quota() {
  double quota = 0, period = 0;
  if (auto text = read_file("/sys/fs/cgroup/cpu.max")) {
    if (std::sscanf(text->c_str(), "%lf %lf", &quota, &period) != 2) return INT32_MAX;
  } else {
    quota = first_number("/sys/fs/cgroup/cpu/cpu.cfs_quota_us").value_or(0);
    period = first_number("/sys/fs/cgroup/cpu/cpu.cfs_period_us").value_or(0);
  }
  if (quota <= 0 || period <= 0) return INT32_MAX;
  return std::max(1, static_cast<int>((quota + period - 1) / period));
}

int affinity_count() {
  // Machines with more than CPU_SETSIZE processors need a larger set than the default one.
  for (int count = CPU_SETSIZE; count <= 1 << 20; count *= 4) {
    size_t size = CPU_ALLOC_SIZE(count);
    cpu_set_t* set = CPU_ALLOC(count);
    int error = sched_getaffinity(0, size, set);
    int available = error == 0 ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (available > 0) return available;
  }
  return static_cast<int>(std::max(1l, sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace

const std::string& cpu_model() {
  static const std::string* text = new std::string(read_model());
  return *text;
}

const std::string& cpu_identity() {
  static const std::string* text = new std::string(read_identity());
  return *text;
}

const std::string& cpu_features() {
  static const std::string* text = new std::string(read_features());
  return *text;
}

int available_cpus() {
  static const int quota = read_quota();
  return std::min(affinity_count(), quota);
}

int64_t memory_bytes() {
  static const int64_t bytes = [] {
    auto total = static_cast<double>(physical_memory());
    for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
      if (auto limit = first_number(path); limit && *limit > 0) total = std::min(total, *limit);
    return static_cast<int64_t>(total);
  }();
  return bytes;
}

}  // namespace accel
