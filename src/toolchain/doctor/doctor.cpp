#include "toolchain/doctor/doctor.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>

#include <chrono>
#include <cstdlib>

#include "base/settings.h"
#include "codegen/kernel_abi.h"
#include "toolchain/device_code.h"
#include "toolchain/files.h"
#include "toolchain/host/compiler.h"
#include "toolchain/host/invocation.h"
#include "toolchain/host/loader.h"
#include "toolchain/host/probe.h"
#include "toolchain/machine.h"

namespace accel {
namespace {

constexpr int expected_answer = 42;
constexpr const char* test_kernel = R"(
extern "C" int accel_kernel(const void*) {
  volatile double values[64];
  for (int i = 0; i < 64; i++) values[i] = i == 17 ? 42.0 : 0.0;
  double sum = 0;
  for (int i = 0; i < 64; i++) sum += values[i];
  return (int)sum;
}
)";

double elapsed_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Status check_kernel(const Compiler& compiler, double& seconds) {
  auto start = std::chrono::steady_clock::now();
  ACCEL_TRY(std::string object, run_compiler(compiler, test_kernel));
  seconds = elapsed_since(start);
  ACCEL_TRY(void* library, load_object(object));
  auto entry = reinterpret_cast<AccelKernel>(dlsym(library, "accel_kernel"));
  int answer = entry ? entry(nullptr) : -1;
  dlclose(library);
  if (answer != expected_answer) return fail(Reason::load_failed, "the test kernel gave a wrong answer");
  return Unit{};
}

void set_problem(CompilerReport& report, const Failure& failure) {
  const ReasonInfo& info = reason_info(failure.reason);
  report.problem = std::string(info.what) + ": " + failure.detail;
  // The general advice for a compiler that fails is to run this examination.
  report.way_out = failure.reason == Reason::compiler_failed
                       ? "reinstall the compiler (Debian: apt install --reinstall g++) or set CXX to another one"
                       : info.way_out;
}

CompilerReport examine_compiler() {
  CompilerReport report;
  auto compiler = find_compiler();
  if (!compiler.ok()) return set_problem(report, compiler.failure()), report;
  for (const auto& word : compiler->command) report.path += (report.path.empty() ? "" : " ") + word;
  auto version = compiler_version(*compiler);
  if (version.ok()) report.version = *version;
  auto known = probe(*compiler);
  if (!known.ok()) return set_problem(report, known.failure()), report;
  report.flags = known->flags;
  for (const auto& flag : known->absent) report.absent_flags.emplace_back(flag.text, flag.purpose);
  auto checked = check_kernel(*compiler, report.seconds);
  if (!checked.ok()) return set_problem(report, checked.failure()), report;
  report.works = true;
  return report;
}

NvrtcReport examine_nvrtc() {
  NvrtcReport report;
  auto start = std::chrono::steady_clock::now();
  auto nvrtc = find_nvrtc();
  if (nvrtc.ok()) {
    report.path = nvrtc->path;
    report.version = std::to_string(nvrtc->major) + "." + std::to_string(nvrtc->minor);
  }
  Status tested = test_nvrtc();
  report.seconds = elapsed_since(start);
  report.works = tested.ok();
  if (report.works) return report;
  const Failure& failure = tested.failure();
  report.problem = std::string(reason_info(failure.reason).what) + ": " + failure.detail;
  // The general advice for a compiler that fails is to run this examination.
  report.way_out = failure.reason == Reason::nvrtc_failed ? "pip install --force-reinstall nvidia-cuda-nvrtc"
                                                          : reason_info(failure.reason).way_out;
  return report;
}

// The word in brackets of "always [madvise] never".
std::string huge_page_policy() {
  std::string text = read_file("/sys/kernel/mm/transparent_hugepage/enabled").value_or("");
  size_t begin = text.find('['), end = text.find(']');
  return begin == text.npos || end == text.npos ? "" : text.substr(begin + 1, end - begin - 1);
}

}  // namespace

DoctorReport examine() {
  DoctorReport report;
  report.compiler = examine_compiler();
  report.nvrtc = examine_nvrtc();
  report.cache = cache_info();
  if (!report.cache.problem.empty()) report.cache_way_out = reason_info(Reason::cache_unusable).way_out;
  report.libc_version = gnu_get_libc_version();
  report.cpu_model = cpu_model();
  report.cpu_features = cpu_features();
  report.memory_bytes = memory_bytes();
  report.available_cpus = available_cpus();
  if (const char* threads = std::getenv("OMP_NUM_THREADS")) report.omp_num_threads = threads;
  report.huge_pages = huge_page_policy();
  report.setting_problems = setting_problems();
  return report;
}

}  // namespace accel
