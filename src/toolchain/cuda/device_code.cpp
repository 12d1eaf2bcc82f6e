// compile_device_code: from CUDA text to a CUBIN, through the disk cache.

#include "toolchain/device_code.h"

#include <optional>

#include "base/hash.h"
#include "base/settings.h"
#include "toolchain/cached_compile.h"
#include "toolchain/cuda/nvrtc.h"
#include "toolchain/flights.h"

namespace accel {
namespace {

constexpr const char* device_test_kernel = R"(
template <class T>
T twice(T a) {
  return a + a;
}
extern "C" __global__ void accel_test(double* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = twice(exp(p[i]));
}
)";

// Of facts that are known without NVRTC: a hit must not load it. A library that the user names may be for other drivers.
Digest key_of(const std::string& text, int architecture) {
  Blake2b hash;
  hash.update_field("accel device code, entry format 1");
  hash.update_field(text);
  for (const std::string& option : nvrtc_options()) hash.update_field(option);
  hash.update_field(std::to_string(architecture));
  hash.update_field(settings().nvrtc.get());
  return hash.finish();
}

std::optional<std::string> load_cached(const DiskCache& cache, const Digest& key) {
  auto cubin = cache.load(key, loaded_nvrtc_identity());
  if (cubin) dump(key, ".cubin", *cubin);
  return cubin;
}

Result<std::string> compile_fresh(const std::optional<DiskCache>& cache, const Digest& key, const std::string& text,
                                  int architecture) {
  ACCEL_TRY(const Nvrtc* nvrtc, load_nvrtc());
  std::string log;
  auto cubin = run_nvrtc(*nvrtc, text, architecture, &log);
  if (!log.empty()) dump(key, ".log", log);
  if (!cubin.ok()) return cubin;
  dump(key, ".cubin", *cubin);
  store_compiled(cache, key, nvrtc->identity, *cubin);
  return cubin;
}

}  // namespace

Result<std::string> compile_device_code(const std::string& text, int architecture) {
  Digest key = key_of(text, architecture);
  return Flights<std::string>::get(key, [&] {
    dump(key, ".cu", text);
    return load_or_make<std::string>(
        key, [&](const DiskCache& cache) { return load_cached(cache, key); },
        [&](const std::optional<DiskCache>& cache) { return compile_fresh(cache, key, text, architecture); });
  });
}

Status test_nvrtc() {
  ACCEL_TRY(const Nvrtc* nvrtc, load_nvrtc());
  ACCEL_TRY([[maybe_unused]] std::string cubin, run_nvrtc(*nvrtc, device_test_kernel, nvrtc->architectures.back()));
  return Unit{};
}

}  // namespace accel
