#pragma once
// Device code: CUDA text compiled to a CUBIN by NVRTC, through the disk cache. Safe to call from any thread, without a device.

#include <string>
#include <vector>

#include "base/result.h"

namespace accel {

// Where NVRTC was found.
struct NvrtcInfo {
  std::string path;
  int major = 0, minor = 0;
};

// Loads NVRTC once. Fails with no_nvrtc, and names the command that installs it. Folders in which the Python side has found
// libraries of NVIDIA's packages are searched first.
Result<NvrtcInfo> find_nvrtc();
void set_cuda_library_folders(std::vector<std::string> folders);

// The CUBIN of `text`, a translation unit without includes, for compute capability `architecture` (90: sm_90) or, when NVRTC
// does not know it, the newest older one of the same major number. Functions need no __device__. From the disk cache when it is
// there: that needs no NVRTC. Fails with no_nvrtc, nvrtc_failed.
Result<std::string> compile_device_code(const std::string& text, int architecture);

// Compiles a small kernel without the cache. Fails with no_nvrtc, nvrtc_failed.
Status test_nvrtc();

}  // namespace accel
