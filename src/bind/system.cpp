// The machine: disk cache, compiler, threads, memory.

#include "bind/bind.h"
#include "bind/convert.h"
#include "dispatch/reports/notices.h"
#include "runtime/parallel.h"
#include "runtime/result_pool.h"
#include "toolchain/doctor/doctor.h"
#include "toolchain/toolchain.h"

namespace accel {
namespace {

py::dict cache_record(const CacheInfo& info) {
  py::dict record;
  record["path"] = info.path;
  record["entries"] = info.entries;
  record["bytes"] = info.bytes;
  record["hits"] = info.hits;
  record["misses"] = info.misses;
  record["problem"] = info.problem;
  return record;
}

py::dict compiler_record(const CompilerReport& report) {
  py::dict record;
  record["path"] = report.path;
  record["version"] = report.version;
  record["flags"] = report.flags;
  record["absent_flags"] = report.absent_flags;
  record["works"] = report.works;
  record["seconds"] = report.seconds;
  record["problem"] = report.problem;
  record["way_out"] = report.way_out;
  return record;
}

py::dict nvrtc_record(const NvrtcReport& report) {
  py::dict record;
  record["path"] = report.path;
  record["version"] = report.version;
  record["works"] = report.works;
  record["seconds"] = report.seconds;
  record["problem"] = report.problem;
  record["way_out"] = report.way_out;
  return record;
}

std::vector<std::string> find_packaged_compiler() { return call_for_texts("accel._compiler_package", "find_command"); }

py::dict examination() {
  DoctorReport report;
  {
    py::gil_scoped_release unlocked;
    report = examine();
  }
  py::dict record;
  record["compiler"] = compiler_record(report.compiler);
  record["nvrtc"] = nvrtc_record(report.nvrtc);
  record["cache"] = cache_record(report.cache);
  record["cache_way_out"] = report.cache_way_out;
  record["libc_version"] = report.libc_version;
  record["cpu_model"] = report.cpu_model;
  record["cpu_features"] = report.cpu_features;
  record["memory_bytes"] = report.memory_bytes;
  record["available_cpus"] = report.available_cpus;
  record["omp_num_threads"] = report.omp_num_threads;
  record["huge_pages"] = report.huge_pages;
  record["setting_problems"] = report.setting_problems;
  record["threads"] = thread_count();
  return record;
}

py::dict pool_record() {
  PoolStats stats = pool_stats();
  py::dict record;
  record["live_bytes"] = stats.live_bytes;
  record["kept_bytes"] = stats.kept_bytes;
  record["reused"] = stats.reused;
  record["mapped"] = stats.mapped;
  record["limit"] = pool_limit();
  return record;
}

// (number of entries deleted, problem)
std::pair<int64_t, std::string> delete_cache() {
  py::gil_scoped_release unlocked;
  Result<int64_t> deleted = clear_cache();
  if (deleted.ok()) return {*deleted, {}};
  return {0, deleted.failure().detail};
}

CacheInfo read_cache_info() {
  py::gil_scoped_release unlocked;
  return cache_info();
}

}  // namespace

void bind_system(py::module_& module) {
  set_packaged_compiler_finder(find_packaged_compiler);
  module.def("cache_info", [] { return cache_record(read_cache_info()); });
  module.def("clear_cache", delete_cache);
  module.def("examine", examination);
  module.def("pool_info", pool_record);
  module.def("report_notices", [] {
    if (!report_notices()) throw py::error_already_set();
  });
}

}  // namespace accel
