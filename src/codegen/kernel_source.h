#pragma once
// KernelSource: what codegen makes of a Program and what the toolchain compiles.

#include <optional>
#include <string>
#include <vector>

#include "schedule/program/program.h"

namespace accel {

// A kernel of device text.
struct KernelName {
  std::string name;
  bool is_likely = true;  // arrays of the sizes at capture need it
  // By parameter: the buffer that it is the address of; -1: another parameter. The first one is the number of items, an int64.
  // Empty for kernels that compute other than whole items.
  std::vector<BufferId> buffers = {};
};

// An array whose elements a nest touches step by step: iteration k of its outermost loop, in bytes from the address of the
// array, those from k * step + low to k * step + high.
struct ChunkedBuffer {
  BufferId buffer = -1;
  bool is_output = false;
  int binding = -1;  // index among array inputs or outputs
  Dim step, low, high;
};

// A program whose only nest can run part by part: its iterations of the outermost loop depend on each other in nothing, and
// each one is a number of items.
struct Chunks {
  DimTable dims;
  Dim iterations;
  std::vector<ChunkedBuffer> buffers;  // others are read as a whole
};

struct KernelSource {
  std::string text;                 // a complete translation unit without includes; defines accel_kernel (kernel_abi.h)
  std::vector<LoopImport> imports;  // order of the import table the kernel expects
  std::string archive = {};         // path of a static library that it is linked with; "": none
  // Of a program for a device (device_abi.h):
  std::string device_text = {};          // CUDA text without includes, with the likely kernels
  std::string other_text = {};           // the same with the other kernels; "": there are none
  std::vector<KernelName> kernels = {};  // by number
  // Whether the host need not wait for checks of indices (AccelDeviceLaunch::defers_checks), and whether loops have such.
  bool has_deferred_checks = false, has_checks_in_loops = false;
  std::optional<Chunks> chunks = {};
};

// `quiet_comparisons`: comparisons of floats raise no event for NaN, as in NumPy, at some cost in speed. Kernels of programs
// that record events need them.
Result<KernelSource> emit_cpp(const Program& program, bool quiet_comparisons = false);
// Of a program for a device: the text launches kernels of the device text, and accel_kernel gets an AccelDeviceLaunch.
// `hints`: values of symbols at capture.
Result<KernelSource> emit_cuda(const Program& program, const std::vector<int64_t>& hints);

}  // namespace accel
