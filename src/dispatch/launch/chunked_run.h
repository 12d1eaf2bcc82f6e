#pragma once
// ChunkedRun: a launch of one kernel part by part. While the device computes a part, NumPy's arguments for the next one are
// copied to it, and results of the last one are copied back. Requires the GIL, which is released while arrays are copied.

#include <cstdint>
#include <optional>
#include <vector>

#include "compile.h"
#include "dispatch/launch/argument_spans.h"
#include "dispatch/launch/device_kernels.h"
#include "guard/dim_program.h"
#include "runtime/cuda/device.h"

namespace accel {

// Chunks, ready for evaluation.
struct ChunkPlan {
  struct Array {
    BufferId buffer = -1;
    bool is_output = false;
    int binding = -1;
    DimProgram step, low, high;
  };
  DimProgram iterations;
  std::vector<Array> arrays;
  std::vector<std::vector<BufferId>> buffers;  // by kernel: KernelName::buffers

  static std::optional<ChunkPlan> make(const DeviceCode& code);
};

// An array of the launch: bytes that are touched by each iteration, from `host` and `device` on, the addresses of element 0.
struct ChunkedArray {
  BufferId buffer = -1;
  bool is_output = false;
  int binding = -1;
  char *host = nullptr, *device = nullptr;
  int64_t step = 0, low = 0, high = 0;
  int64_t begin = 0, end = 0;  // of all iterations

  // The bytes up to the end of iteration number `count` - 1.
  int64_t reach(int64_t count) const;
};

class ChunkedRun {
 public:
  // The arrays of a launch, without addresses of results. Nothing where a launch in parts is not worth it, or not possible.
  static std::optional<ChunkedRun> make(const ChunkPlan& plan, CudaDevice& device, const int64_t* symbols);

  std::vector<ChunkedArray>& arrays() { return arrays_; }
  // Whether one of the arrays is this input or output.
  bool has(bool is_output, int binding) const;
  // False for kernels that compute parts of items.
  bool can_launch(int number) const { return !plan_->buffers[static_cast<size_t>(number)].empty(); }
  // Launches the kernel. All results are in memory of the host when it returns.
  Status run(const DeviceKernels& kernels, int number, const LaunchShape& shape, void** arguments);

 private:
  class Downloads;
  ChunkedRun(const ChunkPlan& plan, CudaDevice& device) : plan_(&plan), device_(&device) {}
  Status upload(int64_t from, int64_t to) const;
  Status launch(const DeviceKernels& kernels, int number, LaunchShape shape, void** arguments, int64_t from, int64_t to) const;

  const ChunkPlan* plan_;
  CudaDevice* device_;
  std::vector<ChunkedArray> arrays_;
  int64_t iterations_ = 0, parts_ = 0;
};

}  // namespace accel
