#pragma once
// What works on this machine, what does not, and the remedy: the report of `python -m accel doctor`.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "toolchain/toolchain.h"

namespace accel {

struct CompilerReport {
  std::string path;  // with leading arguments; "" when there is none
  std::string version;
  std::vector<std::string> flags;                                 // those that it understands
  std::vector<std::pair<std::string, std::string>> absent_flags;  // those that it does not, and what they are for
  bool works = false;   // a small kernel was compiled, loaded and gave the right answer
  double seconds = 0;   // of that compile
  std::string problem;  // "" when it works
  std::string way_out;
};

struct NvrtcReport {
  std::string path, version;  // "" when there is none
  bool works = false;         // a small kernel was compiled
  double seconds = 0;         // of that compile
  std::string problem;        // "" when it works
  std::string way_out;
};

struct DoctorReport {
  CompilerReport compiler;
  NvrtcReport nvrtc;
  CacheInfo cache;
  std::string cache_way_out;
  std::string libc_version;
  std::string cpu_model;
  std::string cpu_features;
  int64_t memory_bytes = 0;
  int available_cpus = 0;       // affinity and container quota
  std::string omp_num_threads;  // the variable, "" when unset
  std::string huge_pages;       // the system's policy: "always", "madvise", "never" or ""
  std::vector<std::string> setting_problems;
};

// Runs the compilers, so it takes a moment. Stores no kernel in the cache.
DoctorReport examine();

}  // namespace accel
