#include "runtime/cuda/driver.h"

#include <dlfcn.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <string>

#include "base/settings.h"
#include "toolchain/fork.h"

namespace accel {
namespace {

constexpr const char* usual_library = "libcuda.so.1";

std::atomic<bool> forked_after_init{false};

struct LoadedDriver {
  std::mutex mutex;
  CudaDriver functions;
  bool initialised = false;
  // Why the library of this name could not be used: it is not tried again.
  std::optional<Failure> failure;
  std::string failed_library;
};

void note_fork();

LoadedDriver& loaded_driver() { return process_wide<LoadedDriver>(note_fork); }

void note_fork() {
  if (loaded_driver().initialised) forked_after_init = true;
}

Failure failure_in_child() {
  return fail(Reason::cuda_failed,
              "CUDA cannot be used in a process that was forked after CUDA's first use; start it by spawn");
}

template <class Function>
bool find_function(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  return function != nullptr;
}

Status find_functions(void* library, const std::string& name, CudaDriver& functions) {
#define CUDA_FUNCTION(function, symbol, parameters)         \
  if (!find_function(library, #symbol, functions.function)) \
    return fail(Reason::no_cuda_driver, name + " has no function " #symbol "; a newer driver is needed");
#define CUDA_LATER_FUNCTION(function, symbol, parameters) find_function(library, #symbol, functions.function);
#include "runtime/cuda/driver.inc"
  return Unit{};
}

// The driver's name of a result and its text.
std::string describe_result(int result) {
  const auto& functions = loaded_driver().functions;
  const char *name = nullptr, *text = nullptr;
  if (functions.cuGetErrorName) functions.cuGetErrorName(result, &name);
  if (functions.cuGetErrorString) functions.cuGetErrorString(result, &text);
  return (name ? std::string(name) : "error " + std::to_string(result)) + (text ? " (" + std::string(text) + ")" : "");
}

Reason reason_of(int result) {
  switch (result) {
    case cuda_out_of_memory:
      return Reason::out_of_device_memory;
    case cuda_stub_library:
      return Reason::no_cuda_driver;
    case cuda_no_device:
    case cuda_invalid_device:
      return Reason::no_cuda_device;
    default:
      return Reason::cuda_failed;
  }
}

Status load_driver(const std::string& name, CudaDriver& functions) {
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return fail(Reason::no_cuda_driver, dlerror());
  ACCEL_TRY([[maybe_unused]] auto found, find_functions(library, name, functions));
  ACCEL_CUDA(functions, cuInit, 0);
  return Unit{};
}

}  // namespace

bool CudaDriver::has_graphs() const {
  bool has_all = true;
#define CUDA_FUNCTION(function, symbol, parameters)
#define CUDA_LATER_FUNCTION(function, symbol, parameters) has_all &= (function) != nullptr;
#include "runtime/cuda/driver.inc"
  return has_all;
}

bool in_child_without_cuda() { return forked_after_init.load(std::memory_order_relaxed); }

Failure cuda_failure(const char* function, int result) {
  if (in_child_without_cuda()) return failure_in_child();
  return fail(reason_of(result), std::string(function) + ": " + describe_result(result));
}

Result<const CudaDriver*> cuda_driver() {
  if (in_child_without_cuda()) return failure_in_child();
  LoadedDriver& driver = loaded_driver();
  std::lock_guard lock(driver.mutex);
  if (driver.initialised) return &driver.functions;
  std::string name = settings().cuda_driver.get();
  if (name.empty()) name = usual_library;
  if (driver.failure && driver.failed_library == name) return *driver.failure;
  auto done = load_driver(name, driver.functions);
  if (!done.ok()) {
    driver.failure = done.failure();
    driver.failed_library = name;
    return done.failure();
  }
  driver.initialised = true;
  return &driver.functions;
}

Result<int> cuda_driver_version() {
  ACCEL_TRY(const CudaDriver* driver, cuda_driver());
  int version = 0;
  ACCEL_CUDA(*driver, cuDriverGetVersion, &version);
  return version;
}

}  // namespace accel
