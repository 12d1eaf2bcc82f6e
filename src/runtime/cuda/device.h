#pragma once
// CudaDevice: one CUDA device of the process: its context, memory, copies and launches. Opened when it is first asked for and
// never closed. Functions may be called from any thread, with or without the GIL; they make the device's context current.
//
// Work is ordered by streams. The current stream is the calling thread's choice for the device, and the legacy default stream
// unless a StreamScope says otherwise: work of other libraries on their default stream is ordered with it.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace accel {

// The streams of the driver (CUstream). 0 is the legacy default stream, and so is 1, as cuda.h and protocols of arrays have it.
using CudaStream = void*;

struct CudaContext;
class LaunchBatch;
class LaunchGraphs;
struct ParameterLayout;

struct DeviceMemoryInfo {
  int64_t free = 0, total = 0;  // bytes of the device, of all processes
  int64_t used = 0;             // bytes of live blocks of this process
  int64_t cached = 0;           // bytes that the pool holds for later blocks
  int64_t peak = 0;             // most `used` so far
  int64_t limit = 0;            // bytes that used + cached may not exceed; 0: none
};

// What the process has done on a device, for accel.explain: only ever grows. A download is not counted as a wait.
struct DeviceCounters {
  int64_t launches = 0, waits = 0, uploads = 0, downloads = 0;
  int64_t bytes_up = 0, bytes_down = 0;
  int64_t graphs = 0, graph_launches = 0;  // CUDA graphs, and those of the launches that were in them
};

class CudaDevice {
 public:
  // The number of devices. Fails with no_cuda_driver, or with cuda_failed in the child of a fork that came after the first use.
  static Result<int> count();
  // Fails with no_cuda_driver, no_cuda_device (no device has this number), cuda_failed.
  static Result<CudaDevice*> open(int number);

  int number() const;
  const std::string& name() const;
  int architecture() const;      // compute capability: 90 is 9.0
  int processors() const;        // streaming multiprocessors
  int64_t shared_bytes() const;  // of shared memory that a block may have

  CudaStream stream() const;  // of the calling thread
  // For calls of NVIDIA's libraries: they need an ActiveContext (context.h) and a LaunchScope without graphs.
  const CudaContext& context() const;

  // Memory in the order of the current stream, aligned to 256 bytes, from the pool. Fails with out_of_device_memory after the
  // pool has given back all that it holds. bytes >= 0.
  Result<char*> allocate(int64_t bytes);
  // Gives memory back once the work that the current stream, and the streams named by `use`, have now is done. Never fails.
  void release(char* memory);
  // The memory is used by work of this stream, too: it is not given away before that work is done.
  void use(char* memory, CudaStream stream);

  // Copies in the order of the current stream. `upload` may return before the device has read `from`, but has taken a copy by
  // then; `download` returns when `to` is complete. `copy` is between memory of the device.
  Status upload(char* to, const void* from, int64_t bytes);
  Status download(void* to, const char* from, int64_t bytes);
  Status copy(char* to, const char* from, int64_t bytes);
  // Waits for the work of the current stream, of all streams. Fails with cuda_failed when a kernel has failed.
  Status wait();
  Status wait_for_all();
  // The current stream's later work comes after what `other` has been given so far.
  Status order_after(CudaStream other);
  // A stream beside those of the callers, whose work waits for no other stream: for downloads while the device goes on.
  Result<CudaStream> download_stream();
  // Gives the stream the launches that a LaunchScope of the calling thread has collected.
  Status submit();

  // Memory of the host that kernels can write, 8-byte words set to 0, reused after `give_words_back`: for single results.
  // It may be given back only when the work that writes it is done.
  Result<int64_t*> take_words(int count);
  void give_words_back(int64_t* words, int count);
  // The address by which kernels know such memory.
  char* device_address(int64_t* words);
  // False for memory of the host, whether kernels reach it or not.
  bool is_device_memory(const void* address);

  DeviceMemoryInfo memory_info();
  void set_memory_limit(int64_t bytes);
  void release_cached();  // gives the pool's unused memory back to the driver
  DeviceCounters counters() const;

 private:
  struct Parts;
  friend class StreamScope;
  friend class LaunchScope;
  friend class DeviceModule;

  explicit CudaDevice(std::unique_ptr<Parts> parts);
  ~CudaDevice();
  static Result<CudaDevice*> open_first(int number);

  std::unique_ptr<Parts> parts_;
};

// Makes `stream` the current stream of the calling thread for a device, until the end of the scope.
class StreamScope {
 public:
  StreamScope(CudaDevice& device, CudaStream stream);
  ~StreamScope();
  StreamScope(const StreamScope&) = delete;
  StreamScope& operator=(const StreamScope&) = delete;

 private:
  CudaDevice& device_;
  CudaStream before_;
};

// Until the end of the scope the launches of the calling thread on a device are collected, and the stream is given many of them
// at once, as a CUDA graph. All other work for the stream, and all waits, submit the collected launches first; memory that is
// released meanwhile goes back to the pool after that. NVIDIA's libraries give the stream work that CudaDevice does not see:
// their calls need a scope without graphs, in which launches are not collected.
class LaunchScope {
 public:
  // The graphs outlive the scope. Null: launches are not collected. What an outer scope has collected is submitted.
  LaunchScope(CudaDevice& device, LaunchGraphs* graphs);
  // Requires that all launches have been submitted (CudaDevice::submit); those that have not are lost.
  ~LaunchScope();
  LaunchScope(const LaunchScope&) = delete;
  LaunchScope& operator=(const LaunchScope&) = delete;

 private:
  CudaDevice& device_;
  LaunchBatch* before_;
  std::unique_ptr<LaunchBatch> batch_;
};

// Graphs for launches of one program on a device. Null when the driver has no graphs, or none whose launches can be changed.
std::shared_ptr<LaunchGraphs> new_launch_graphs(const CudaDevice& device);

// The grid of one launch.
struct LaunchShape {
  int64_t blocks = 1;    // up to 2^31 - 1
  int threads = 1;       // per block
  int shared_bytes = 0;  // dynamic shared memory
  bool operator==(const LaunchShape&) const = default;
};

// A loaded CUBIN. Unloaded when nothing refers to it.
class DeviceModule {
 public:
  // `kernels`: names of extern "C" __global__ functions.
  static Result<std::shared_ptr<const DeviceModule>> load(CudaDevice& device, const std::string& cubin,
                                                          const std::vector<std::string>& kernels);
  ~DeviceModule();
  // In the current stream. `arguments`: pointers to the values of the kernel's parameters.
  Status launch(int kernel, const LaunchShape& shape, void** arguments) const;
  CudaDevice& device() const { return device_; }

 private:
  struct Kernel;
  DeviceModule(CudaDevice& device, void* handle);
  Status find_kernels(const std::vector<std::string>& names);
  Status allow_shared_bytes(Kernel& kernel, int bytes) const;
  const ParameterLayout* layout_of(Kernel& kernel) const;

  CudaDevice& device_;
  void* handle_;
  int kernel_count_ = 0;
  std::unique_ptr<Kernel[]> kernels_;
};

// Memory of a device that arrays share: of the pool, or of a guest.
struct DeviceBlock {
  CudaDevice* device = nullptr;
  char* data = nullptr;
  int64_t bytes = 0;
  std::shared_ptr<void> guest;  // keeps memory of another library alive; null: the block is of the pool and is released
  DeviceBlock() = default;
  DeviceBlock(const DeviceBlock&) = delete;
  DeviceBlock& operator=(const DeviceBlock&) = delete;
  ~DeviceBlock();
};
Result<std::shared_ptr<DeviceBlock>> new_device_block(CudaDevice& device, int64_t bytes);

}  // namespace accel
