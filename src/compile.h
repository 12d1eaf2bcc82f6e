#pragma once
// The pipeline from a captured graph to a loaded kernel.

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/step.h"
#include "ir/graph.h"
#include "passes/passes.h"
#include "schedule/program/loop_summary.h"
#include "schedule/schedule.h"
#include "toolchain/compiled_kernel.h"

namespace accel {

// The kernels of a program for a device.
struct DeviceCode {
  std::string source, cubin;         // with the kernels that arrays of the sizes at capture need
  std::string other_source;          // with the others, compiled when one of them is launched; "": there are none
  std::vector<KernelName> kernels;   // by number
  std::vector<bool> written_inputs;  // by array input: whether a kernel stores to it
  bool has_deferred_checks = false, has_checks_in_loops = false;  // as in KernelSource
  std::optional<Chunks> chunks;                                   // as in KernelSource
};

struct Compilation {
  std::shared_ptr<const CompiledKernel> kernel;
  Graph graph;  // after the passes
  std::vector<StepRecord> passes;
  std::vector<StepRecord> steps;            // of the schedule
  std::vector<std::string> schedule_notes;  // decisions of the scheduler, one line each
  std::string program_text;
  std::vector<LoopSummary> loop_summaries;
  std::string source;
  DeviceCode device_code;  // of a program for a device
  double seconds = 0;      // all stages
};

struct CompileOptions {
  Target target;
  bool keep_texts = false;         // texts after each pass and each step of the schedule, program text
  bool quiet_comparisons = false;  // emit_cpp
  bool record_events = false;      // the kernel says which operation had which event (kernel_abi.h)
  int architecture = 0;            // of the device, for one: its compute capability (toolchain/device_code.h)
};

// Runs every stage on `graph`. The result's kernel takes the buffers and symbols that codegen/kernel_abi.h describes.
Result<Compilation> compile(Graph graph, const CompileOptions& options);

}  // namespace accel
