// The CUDA driver's functions, with the names and parameters of cuda.h, on memory of the host.

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "calls.h"
#include "worker.h"

using namespace emulated;

// --- the driver and its devices ---

DRIVER_FUNCTION cuGetErrorName(int code, const char** name) {
  static const std::map<int, const char*> names{
      {success, "CUDA_SUCCESS"},
      {invalid_value, "CUDA_ERROR_INVALID_VALUE"},
      {out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY"},
      {invalid_device, "CUDA_ERROR_INVALID_DEVICE"},
      {invalid_image, "CUDA_ERROR_INVALID_IMAGE"},
      {no_binary_for_device, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
      {not_found, "CUDA_ERROR_NOT_FOUND"},
      {not_ready, "CUDA_ERROR_NOT_READY"},
      {illegal_address, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {launch_timeout, "CUDA_ERROR_LAUNCH_TIMEOUT"},
      {misaligned_address, "CUDA_ERROR_MISALIGNED_ADDRESS"},
      {launch_failed, "CUDA_ERROR_LAUNCH_FAILED"},
      {999, "CUDA_ERROR_UNKNOWN"},
  };
  auto at = names.find(code);
  *name = at == names.end() ? nullptr : at->second;
  return *name ? success : invalid_value;
}

// What the emulator knows of the last error.
DRIVER_FUNCTION cuGetErrorString(int code, const char** text) {
  std::lock_guard lock(emulator().mutex);
  static thread_local std::string last;
  last = emulator().said_code == code ? emulator().report : "";
  *text = last.empty() ? nullptr : last.c_str();
  return *text ? success : invalid_value;
}

DRIVER_FUNCTION cuInit(unsigned) {
  std::lock_guard lock(emulator().mutex);
  [[maybe_unused]] static const bool is_done = (read_environment(), catch_signals(), true);
  return enter(__func__);
}

DRIVER_FUNCTION cuDriverGetVersion(int* version) {
  BEGIN_CALL;
  *version = 13000;
  return success;
}

DRIVER_FUNCTION cuDeviceGetCount(int* count) {
  BEGIN_CALL;
  *count = static_cast<int>(emulator().options.devices);
  return success;
}

DRIVER_FUNCTION cuDeviceGet(int* device, int number) {
  BEGIN_CALL;
  *device = number;
  return number < emulator().options.devices ? success : invalid_device;
}

DRIVER_FUNCTION cuDeviceGetName(char* name, int bytes, int) {
  BEGIN_CALL;
  std::snprintf(name, bytes, "emulated");
  return success;
}

DRIVER_FUNCTION cuDeviceGetAttribute(int* value, int attribute, int) {
  BEGIN_CALL;
  static const std::map<int, int> values{{1, 1024}, {10, 32}, {16, 132}, {75, 9}, {76, 0}, {97, most_dynamic_bytes}};
  auto at = values.find(attribute);
  *value = at == values.end() ? 1 : at->second;
  return success;
}

// --- contexts ---

namespace {

char contexts[64];  // a context is the address of its device's byte
thread_local void* current_context = nullptr;

}  // namespace

bool emulated::has_context() { return current_context != nullptr; }

DRIVER_FUNCTION cuDevicePrimaryCtxRetain(void** context, int device) {
  BEGIN_CALL;
  *context = &contexts[device];
  return success;
}

DRIVER_FUNCTION cuCtxGetCurrent(void** context) {
  *context = current_context;
  return success;
}

DRIVER_FUNCTION cuCtxSetCurrent(void* context) {
  current_context = context;
  return success;
}

DRIVER_FUNCTION cuCtxSynchronize() {
  BEGIN_CALL;
  return drain_all();
}

// --- memory ---

DRIVER_FUNCTION cuMemGetInfo_v2(size_t* free, size_t* total) {
  BEGIN_CALL;
  long limit = emulator().options.limit;
  *total = limit ? limit : 1ul << 36;
  *free = *total - allocated_bytes();
  return success;
}

DRIVER_FUNCTION cuMemAlloc_v2(char** memory, size_t bytes) {
  BEGIN_CALL;
  if (!has_context()) return say(no_context, "no context is current");
  return allocate(memory, bytes, false);
}

DRIVER_FUNCTION cuMemFree_v2(char* memory) {
  BEGIN_CALL;
  if (int code = drain_all()) return code;
  return free_memory(memory);
}

DRIVER_FUNCTION cuMemFreeAsync(char* memory, Stream* stream) {
  BEGIN_CALL;
  return enqueue(stream, [=] { return free_memory(memory); });
}

DRIVER_FUNCTION cuMemHostAlloc(char** memory, size_t bytes, unsigned) {
  BEGIN_CALL;
  return allocate(memory, bytes, true);
}

DRIVER_FUNCTION cuMemFreeHost(char* memory) {
  BEGIN_CALL;
  drain_all();
  return free_memory(memory);
}

DRIVER_FUNCTION cuPointerGetAttribute(unsigned* value, int attribute, const char* address) {
  BEGIN_CALL;
  const Allocation* found = find_allocation(address);
  if (attribute != 2 || found == nullptr) return invalid_value;  // as for memory of the host that the driver does not know
  *value = found->is_host ? 1 : 2;
  return success;
}

DRIVER_FUNCTION cuMemHostGetDevicePointer_v2(char** address, char* memory, unsigned) {
  BEGIN_CALL;
  *address = memory;
  return find_allocation(memory) ? success : invalid_value;
}

// --- copies ---

namespace {

Work copy_work(void* to, const void* from, size_t bytes) {
  return [=] {
    std::memmove(to, from, bytes);
    return success;
  };
}

}  // namespace

DRIVER_FUNCTION cuMemcpyHtoDAsync_v2(char* to, const char* from, size_t bytes, Stream* stream) {
  BEGIN_CALL;
  if (!is_device_range(to, bytes)) return say(invalid_value, "copy to what is not device memory");
  if (find_allocation(from)) return enqueue(stream, copy_work(to, from, bytes));  // page-locked: read when its turn comes
  auto staged = std::make_shared<std::string>(from, bytes);
  return enqueue(stream, [=] {
    std::memcpy(to, staged->data(), bytes);
    return success;
  });
}

DRIVER_FUNCTION cuMemcpyDtoHAsync_v2(char* to, const char* from, size_t bytes, Stream* stream) {
  BEGIN_CALL;
  if (!is_device_range(from, bytes)) return say(invalid_value, "copy from what is not device memory");
  if (int code = enqueue(stream, copy_work(to, from, bytes))) return code;
  return find_allocation(to) ? int{success} : drain(stream_of(stream));
}

DRIVER_FUNCTION cuMemcpyDtoDAsync_v2(char* to, const char* from, size_t bytes, Stream* stream) {
  BEGIN_CALL;
  if (!is_device_range(from, bytes) || !is_device_range(to, bytes))
    return say(invalid_value, "copy of what is not device memory");
  return enqueue(stream, copy_work(to, from, bytes));
}

DRIVER_FUNCTION cuMemsetD8Async(char* to, unsigned char value, size_t bytes, Stream* stream) {
  BEGIN_CALL;
  if (!is_device_range(to, bytes)) return say(invalid_value, "fill of what is not device memory");
  return enqueue(stream, [=] {
    std::memset(to, value, bytes);
    return success;
  });
}

// --- streams and events ---

DRIVER_FUNCTION cuStreamCreate(Stream** stream, unsigned flags) {
  BEGIN_CALL;
  *stream = new_stream(flags == 0);
  return success;
}

DRIVER_FUNCTION cuStreamDestroy_v2(Stream* stream) {
  BEGIN_CALL;
  destroy_stream(stream);
  return success;
}

DRIVER_FUNCTION cuStreamSynchronize(Stream* stream) {
  BEGIN_CALL;
  return stream_of(stream) == default_stream() ? drain_all() : drain(stream);
}

DRIVER_FUNCTION cuStreamQuery(Stream* stream) {
  BEGIN_CALL;
  stream = stream_of(stream);
  if (!stream->queue.empty()) step(stream);
  if (int code = emulator().sticky) return code;
  return stream->queue.empty() ? success : not_ready;
}

DRIVER_FUNCTION cuStreamWaitEvent(Stream* stream, Event* event, unsigned) {
  BEGIN_CALL;
  return enqueue(stream, [mark = event->mark] { return finish(mark); });
}

DRIVER_FUNCTION cuEventCreate(Event** event, unsigned) {
  BEGIN_CALL;
  *event = new Event;
  return success;
}

DRIVER_FUNCTION cuEventDestroy_v2(Event* event) {
  BEGIN_CALL;
  delete event;
  return success;
}

DRIVER_FUNCTION cuEventRecord(Event* event, Stream* stream) {
  BEGIN_CALL;
  event->mark = std::make_shared<Mark>(Mark{stream_of(stream)});
  return enqueue(stream, [mark = event->mark] {
    mark->is_done = true;
    mark->done_at = std::chrono::steady_clock::now();
    return success;
  });
}

DRIVER_FUNCTION cuEventSynchronize(Event* event) {
  BEGIN_CALL;
  return finish(event->mark);
}

DRIVER_FUNCTION cuEventElapsedTime(float* milliseconds, Event* begin, Event* end) {
  BEGIN_CALL;
  if (!begin->mark || !end->mark || !begin->mark->is_done || !end->mark->is_done) return not_ready;
  *milliseconds = std::chrono::duration<float, std::milli>(end->mark->done_at - begin->mark->done_at).count();
  return success;
}

DRIVER_FUNCTION cuEventQuery(Event* event) {
  BEGIN_CALL;
  const auto& mark = event->mark;
  if (mark && !mark->is_done && !mark->stream->queue.empty()) step(mark->stream);
  if (int code = emulator().sticky) return code;
  return !mark || mark->is_done ? success : not_ready;
}

// --- modules and kernels ---

DRIVER_FUNCTION cuModuleLoadData(Module** module, const char* image) {
  BEGIN_CALL;
  return load_module(module, image);
}

DRIVER_FUNCTION cuModuleUnload(Module* module) {
  BEGIN_CALL;
  drain_all();
  unload_module(module);
  return success;
}

DRIVER_FUNCTION cuModuleGetFunction(Function** function, Module* module, const char* name) {
  BEGIN_CALL;
  return find_function(function, module, name);
}

// Where a parameter lies among the others of the kernel.
DRIVER_FUNCTION cuFuncGetParamInfo(Function* function, size_t number, size_t* offset, size_t* bytes) {
  BEGIN_CALL;
  const Kernel& kernel = *function->kernel;
  if (number >= static_cast<size_t>(kernel.argument_count)) return invalid_value;
  size_t at = 0;
  for (size_t i = 0;; ++i) {
    const size_t size = kernel.argument_bytes[i], alignment = std::min<size_t>(size & -size, 16);
    at = (at + alignment - 1) / alignment * alignment;
    *offset = at, *bytes = size;
    if (i == number) return success;
    at += size;
  }
}

// Dynamic shared memory beyond 48 KiB must be asked for.
DRIVER_FUNCTION cuFuncSetAttribute(Function* function, int attribute, int value) {
  BEGIN_CALL;
  if (attribute == 8 && (value < 0 || value > static_cast<int>(most_dynamic_bytes))) return say(invalid_value, "shared memory");
  if (attribute == 8) function->allowed_dynamic_bytes = value;
  return success;
}

DRIVER_FUNCTION cuLaunchKernel(Function* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                               unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream* stream, void** arguments,
                               void**) {
  BEGIN_CALL;
  if (!has_context()) return say(no_context, "no context is current");
  const Launch launch{function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes};
  if (int code = check_launch(launch)) return code;
  auto copied = std::make_shared<Arguments>(copy_arguments(*function->kernel, arguments));
  return enqueue(stream, [=] { return run_kernel(launch, *copied); });
}

// --- the test's side ---

DRIVER_FUNCTION cuEmulateSet(const char* name, long value) {
  std::lock_guard lock(emulator().mutex);
  long* option = emulator().options.find(name);
  if (!option) return invalid_value;
  *option = value;
  if (option == &emulator().options.seed) emulator().random.seed(static_cast<unsigned>(value));
  if (option == &emulator().options.hide) hide_device_memory(value != 0);
  return success;
}

// Between the two calls a library on the host does work of the device, whose work before is done.
EXPORTED int cuEmulateBeginWork() {
  std::lock_guard lock(emulator().mutex);
  begin_device_work();
  return drain_all();
}
EXPORTED void cuEmulateEndWork() {
  std::lock_guard lock(emulator().mutex);
  end_device_work();
}

// The nth call from now of a function fails, and every later call when it is sticky. Null: none fails.
EXPORTED void cuEmulateFail(const char* function, long nth, int code, int is_sticky) {
  std::lock_guard lock(emulator().mutex);
  if (function)
    fail_call(function, nth, code, is_sticky != 0);
  else
    fail_no_calls();
}

EXPORTED const char* cuEmulateReport() { return emulator().report.c_str(); }
EXPORTED long cuEmulateCalls(const char* function) { return calls_of(function); }
EXPORTED size_t cuEmulateUsedBytes() { return allocated_bytes(); }

// As if the process were new, but for memory, streams and modules.
EXPORTED void cuEmulateReset() {
  std::lock_guard lock(emulator().mutex);
  emulator().sticky = emulator().said_code = 0;
  emulator().report.clear();
  drop_work();
}
