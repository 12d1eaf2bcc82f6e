#pragma once
// One launch of a kernel for a device: memory of arguments and results on the device, and copies of those that are NumPy's.
// Requires the GIL, which is released while the host waits.

#include <Python.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capture/product/captured.h"
#include "codegen/device_abi.h"
#include "compile.h"
#include "dispatch/exits/outputs.h"
#include "dispatch/launch/argument_spans.h"
#include "dispatch/launch/chunked_run.h"
#include "dispatch/launch/device_calls.h"
#include "dispatch/launch/device_kernels.h"
#include "guard/guard_set.h"
#include "runtime/cuda/device.h"

namespace accel {

// What the launches of one entry share.
struct DevicePlan {
  DevicePlan() = default;
  // `may_raise`: a run may find that NumPy raises after it has stored to arguments.
  DevicePlan(const Captured& captured, const DeviceCode& code, CudaDevice& device, bool may_raise);

  struct Input {
    SourceId source = -1;
    DType dtype = DType::float64;
    bool is_on_device = false, is_written = false;
  };
  CudaDevice* device = nullptr;
  std::vector<Input> inputs;  // by array input
  // Whether results are DeviceArrays: an argument is one. Else they are ndarrays.
  bool gives_device_arrays = false;
  bool writes_arguments = false;          // of NumPy's
  bool writes_device_arrays = false;      // arguments on the device
  bool backs_up = false;                  // these
  bool defers_checks = false;             // runs take checks of indices to hold, until the host waits or they end
  std::shared_ptr<LaunchGraphs> graphs;   // null: kernels are launched one by one
  std::optional<ChunkPlan> chunks;        // of one kernel that can run part by part, from and to NumPy's arrays
  std::span<const BoxedCall> call_sites;  // of the capture
};

// The calls that a kernel makes. `take_references`: takes or drops the references of the run to its objects, which unknown code
// may count.
struct CallsOfRun {
  BoxedCalls* calls = nullptr;  // null for a kernel that makes none
  std::function<void(bool)> take_references;
};

class DeviceLaunch {
 public:
  // All arguments outlive this; `outputs` is prepared. `defers_checks`: as in the plan, where it may be true.
  DeviceLaunch(const DevicePlan& plan, const OutputPlan& output_plan, Outputs& outputs, const Binding& binding,
               bool defers_checks, CallsOfRun calls)
      : plan_(plan),
        output_plan_(output_plan),
        outputs_(outputs),
        binding_(binding),
        defers_checks_(defers_checks),
        calls_of_run_(std::move(calls)) {}
  ~DeviceLaunch();  // gives all memory back that no result has
  DeviceLaunch(const DeviceLaunch&) = delete;
  DeviceLaunch& operator=(const DeviceLaunch&) = delete;

  // Runs the kernel and makes its results ready; returns status bits of AccelStatus. `allocates_first`: as in NativeKernel.
  int run(AccelKernel kernel, const DeviceKernels* kernels, const std::vector<AccelImport>& imports, bool allocates_first,
          int& exit);
  // Whether a step of the run that this thread makes has succeeded; the first failure is the run's.
  static bool note(const Status& status);
  // Whether a check has failed that was taken to hold: the run has had no effect, and one that does not defer checks is due.
  bool has_failed_check() const { return has_failed_check_; }
  // Why the run failed, if the reason is not the status alone.
  const std::optional<Failure>& failure() const { return failure_; }
  // Whether a run that failed may have written some elements of NumPy's arguments: the call cannot be made again.
  bool has_spoilt_arguments() const { return is_written_ && failure_.has_value(); }

 private:
  static const AccelRuntime& services();
  static void* allocate_output(void* context, int output, const int64_t* dims);
  static char* take_cells(void* context, int count, int checks);
  static int call(void* context, int number, const void* const* operands, const int64_t* dims);
  static int receive(void* context, int number, int result, void* memory, const int64_t* dims);
  static void* receive_output(void* context, int number, int result, int output, const int64_t* dims);
  static int wait(void* context);
  static int copy(void* context, void* to, const void* from, int64_t bytes);
  static int start(const void* kernels, int number, int64_t blocks, int threads, int64_t bytes, void** arguments);

  bool wait_and_check();
  Status upload(const ArgumentSpan& span);
  bool upload_inputs();
  bool upload_spans();
  int start_in_parts(const DeviceKernels& kernels, int number, const LaunchShape& shape, void** arguments);
  bool show_inputs();
  bool back_up_inputs();
  void restore_inputs();
  bool allocate_outputs();
  void* make_output(int output, const int64_t* dims);
  void* make_array(int output, const int64_t* dims, std::shared_ptr<DeviceBlock> block);
  bool take_word(int output);
  bool take_words();
  bool finish_word(const int64_t* words, int output);
  bool download(int exit, bool is_done);
  bool download_output(int output);
  bool download_inputs();
  bool download_input(size_t input);
  bool fetch_input(size_t input, std::vector<char>& copy);
  bool write_input(size_t input, std::vector<char>& copy);
  bool is_downloaded(size_t input) const { return plan_.inputs[input].is_written && !plan_.inputs[input].is_on_device; }
  bool check(const Status& status);
  int status_of(Result<int> result);
  char* take(int64_t bytes);

  // Lists that launches of a thread use again.
  struct Lists {
    std::vector<void*> inputs;
    std::vector<ArgumentSpan> spans;
    std::vector<ArgumentSpan> backups;            // of memory of the device
    std::vector<char*> memory;                    // of outputs that become ndarrays, by output
    std::vector<std::vector<int64_t>> shapes;     // of these
    std::vector<std::pair<int64_t*, int>> words;  // numbers of the host that kernels write: memory, output
    std::pair<int64_t*, int> cells;               // memory, words
    int checks = 0;                               // cells that have them, the first ones
    void clear();
    static std::unique_ptr<Lists> take();
    static std::vector<std::unique_ptr<Lists>>& unused();
  };

  const DevicePlan& plan_;
  const OutputPlan& output_plan_;
  Outputs& outputs_;
  const Binding& binding_;
  std::unique_ptr<Lists> lists_ = Lists::take();
  std::optional<Failure> failure_;
  AccelDeviceLaunch launch_{};
  bool is_written_ = false;  // elements of NumPy's arguments
  const bool defers_checks_;
  const CallsOfRun calls_of_run_;
  std::optional<DeviceCalls> calls_;  // of a kernel that makes calls, during the run
  bool has_failed_check_ = false;
  std::optional<ChunkedRun> chunked_;  // of a launch in parts
  bool has_results_ = false;           // in memory of the host, of a launch in parts
};

}  // namespace accel
