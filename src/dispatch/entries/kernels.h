#pragma once
// Kernels: the compiled forms of one captured graph. A native entry has the plain kernel and, once events require them, a
// kernel that records which operation had which event, and one with quiet comparisons. Requires the GIL.

#include <Python.h>

#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "capture/product/captured.h"
#include "compile.h"
#include "dispatch/backends/python_kernel.h"
#include "dispatch/entries/run_plan.h"
#include "dispatch/launch/device_kernels.h"
#include "dispatch/launch/device_launch.h"
#include "dispatch/launch/host_copies.h"
#include "ndarray/loops.h"

namespace accel {

struct NativeKernel {
  std::shared_ptr<const CompiledKernel> kernel;
  std::vector<ResolvedLoop> loops;  // NumPy's inner loops that the kernel calls
  std::vector<AccelImport> imports;
  std::shared_ptr<const DeviceKernels> device_kernels;  // of a kernel for a device
  std::vector<std::shared_ptr<void>> contexts;          // of its imports
  bool allocates_first =
      true;  // all results are allocated before the kernel runs; else the kernel requests those of the exit it takes
};

class Kernels {
 public:
  // The arguments outlive this. Nothing is compiled yet.
  Kernels(const Captured& captured, const RunPlan& plan);
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;

  // Compiles the plain kernel, without the GIL. Reason::interrupted: an exception is set.
  Status compile_plain(bool keep_texts);
  Status compile_recording();
  // Compiles the plain kernel for the captured function's device, without the GIL. Reason::interrupted: an exception is set.
  // `uses_graphs`: its runs launch CUDA graphs, if the driver has them.
  Status compile_for_device(bool keep_texts, bool uses_graphs);
  // Compiles the kernel with quiet comparisons, which then replaces the plain one.
  Status compile_quiet();
  // Compiles through a backend written in Python, with one call's symbols and inputs as its example.
  Status compile_with(PyObject* backend, const Binding& binding);

  // The compilation of the plain kernel; null when there is none.
  const Compilation* compilation() const { return compilation_.get(); }
  const NativeKernel& plain() const { return plain_; }
  // Of a kernel for a device; else its device is null.
  const DevicePlan& device_plan() const { return device_plan_; }
  // Of a kernel for the CPU with arguments on a device; else its device is -1.
  const HostCopyPlan& host_copies() const { return host_copies_; }
  const NativeKernel* recording() const { return recording_.get(); }
  const PythonKernel* python() const { return python_.get(); }
  // Whether the only kernel records events.
  bool always_records() const { return always_records_; }
  // Whether the plain kernel has control flow.
  bool has_flow() const { return has_flow_; }
  // Whether the plain kernel compares or selects floats by operations that signal on NaNs.
  bool signals_on_nans() const;

  // By call: the C functions that draw its numbers, without streams.
  std::span<const AccelDraw> draws() const { return draws_; }
  bool opens_draws() const { return opens_draws_; }

  int traverse(visitproc visit, void* arg) const;

 private:
  Result<NativeKernel> resolve(const Compilation& compilation, bool allocates_first) const;
  Status add_recording(const Compilation& compilation);
  Status find_draw_functions();

  const Captured& captured_;
  const RunPlan& plan_;
  std::unique_ptr<Compilation> compilation_;
  NativeKernel plain_;
  DevicePlan device_plan_;
  HostCopyPlan host_copies_;
  std::unique_ptr<NativeKernel> recording_;
  std::unique_ptr<PythonKernel> python_;
  bool always_records_ = false, has_flow_ = false;
  std::vector<AccelDraw> draws_;
  bool opens_draws_ = false;
};

}  // namespace accel
