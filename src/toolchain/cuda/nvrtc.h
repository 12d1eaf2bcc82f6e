#pragma once
// NVRTC: NVIDIA's compiler as a library. Loaded when it is first needed, without a device.

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "toolchain/device_code.h"

namespace accel {

// The functions of nvrtc.inc, in its order.
struct NvrtcFunctions {
#define NVRTC_FUNCTION(result, name, ...) result (*name)(__VA_ARGS__);
#include "toolchain/cuda/nvrtc.inc"
#undef NVRTC_FUNCTION
};

struct Nvrtc {
  NvrtcInfo info;
  std::string identity;  // version and size of the library: differs after an upgrade
  NvrtcFunctions functions{};
  std::vector<int> architectures;  // ascending
};

// The setting `nvrtc`, else the library that open_cuda_library finds. What was loaded is used until the setting or the folders
// change; it is never unloaded, so the result stays valid. Fails with no_nvrtc.
Result<const Nvrtc*> load_nvrtc();

// The identity of what load_nvrtc() has loaded for the current setting, or "": a warm start must not depend on NVRTC.
std::string loaded_nvrtc_identity();

// Options but for the architecture: part of the cache key.
const std::vector<std::string>& nvrtc_options();

// Compiles without the cache. Fails with nvrtc_failed, whose detail has the first errors; `log`, if given, gets all of them.
Result<std::string> run_nvrtc(const Nvrtc& nvrtc, const std::string& text, int architecture, std::string* log = nullptr);

}  // namespace accel
