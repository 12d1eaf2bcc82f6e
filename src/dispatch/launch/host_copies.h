#pragma once
// HostCopies: copies in memory of the host of arguments on a device, for one run of a kernel for the CPU, and of its results
// and stores on the device. Requires the GIL, which is released while the host waits.

#include <Python.h>

#include <vector>

#include "capture/product/captured.h"
#include "cpython/py_ref.h"
#include "dispatch/exits/outputs.h"
#include "dispatch/launch/argument_spans.h"
#include "guard/guard_set.h"
#include "runtime/cuda/device.h"

namespace accel {

// What the copies of one entry share.
struct HostCopyPlan {
  struct Input {
    SourceId source = -1;  // of an array on the device; -1: of another array
    DType dtype = DType::float64;
    bool is_written = false;
  };
  // Without a device when no argument is on one, or the entry is compiled for the device.
  explicit HostCopyPlan(const Captured& captured);

  int device = -1;
  std::vector<Input> inputs;  // by array input
};

class HostCopies {
 public:
  // All arguments outlive this.
  HostCopies(const HostCopyPlan& plan, CudaDevice& device, const Binding& binding)
      : plan_(plan), device_(device), binding_(binding) {}
  HostCopies(const HostCopies&) = delete;
  HostCopies& operator=(const HostCopies&) = delete;

  // Makes the copies. False with an exception.
  bool download();
  // The data pointers of the kernel's array inputs.
  void** inputs() { return inputs_.data(); }
  // Copies what the kernel has stored to the arguments, and makes DeviceArrays of the results of an exit. False with an
  // exception; some of the arguments may have been written.
  bool upload(const OutputPlan& output_plan, int exit, Outputs& outputs);

 private:
  bool download(ArgumentSpan& span);
  bool upload_input(size_t input);
  bool upload_output(PyObject*& array, void*& data);

  const HostCopyPlan& plan_;
  CudaDevice& device_;
  const Binding& binding_;
  std::vector<void*> inputs_;
  std::vector<ArgumentSpan> spans_;
  std::vector<PyRef> memory_;  // by span
};

}  // namespace accel
