#include "runtime/cuda/device.h"

#include <array>
#include <mutex>

#include "runtime/cuda/device_parts.h"

namespace accel {
namespace {

// Attributes of devices (CUdevice_attribute).
constexpr int attribute_processors = 16, attribute_major = 75, attribute_minor = 76, attribute_shared_bytes = 97;

struct OpenDevices {
  std::mutex mutex;
  std::array<std::atomic<CudaDevice*>, most_devices> devices{};
};

OpenDevices& open_devices() {
  static auto* devices = new OpenDevices;  // never destroyed: threads may use devices to the end of the process
  return *devices;
}

void count_one(std::atomic<int64_t>& counter) { counter.fetch_add(1, std::memory_order_relaxed); }

void count_bytes(std::atomic<int64_t>& copies, std::atomic<int64_t>& total, int64_t bytes) {
  count_one(copies);
  total.fetch_add(bytes, std::memory_order_relaxed);
}

}  // namespace

Result<int> CudaDevice::count() {
  auto driver = cuda_driver();
  if (!driver.ok() && driver.failure().reason == Reason::no_cuda_device) return 0;
  if (!driver.ok()) return driver.failure();
  int devices = 0;
  ACCEL_CUDA(**driver, cuDeviceGetCount, &devices);
  return devices;
}

Result<CudaDevice*> CudaDevice::open(int number) {
  auto& devices = open_devices().devices;
  bool is_known = number >= 0 && number < most_devices;
  CudaDevice* device = is_known ? devices[number].load(std::memory_order_acquire) : nullptr;
  if (device && !in_child_without_cuda()) return device;
  return open_first(number);
}

Result<CudaDevice*> CudaDevice::open_first(int number) {
  ACCEL_TRY(const CudaDriver* driver, cuda_driver());
  ACCEL_TRY(int devices, count());
  if (number < 0 || number >= devices || number >= most_devices)
    return fail(Reason::no_cuda_device, "device " + std::to_string(number) + " of " + std::to_string(devices));
  std::lock_guard lock(open_devices().mutex);
  auto& opened = open_devices().devices[number];
  if (CudaDevice* device = opened.load(std::memory_order_acquire)) return device;

  int device = 0;
  ACCEL_CUDA(*driver, cuDeviceGet, &device, number);
  CudaContext context{driver, nullptr, number};
  ACCEL_CUDA(*driver, cuDevicePrimaryCtxRetain, &context.handle, device);
  auto parts = std::make_unique<Parts>(context);
  char name[256] = "";
  ACCEL_CUDA(*driver, cuDeviceGetName, name, sizeof name, device);
  parts->name = name;
  int minor = 0;
  ACCEL_CUDA(*driver, cuDeviceGetAttribute, &parts->architecture, attribute_major, device);
  ACCEL_CUDA(*driver, cuDeviceGetAttribute, &minor, attribute_minor, device);
  parts->architecture = parts->architecture * 10 + minor;
  ACCEL_CUDA(*driver, cuDeviceGetAttribute, &parts->processors, attribute_processors, device);
  ACCEL_CUDA(*driver, cuDeviceGetAttribute, &parts->shared_bytes, attribute_shared_bytes, device);
  auto* made = new CudaDevice(std::move(parts));
  opened.store(made, std::memory_order_release);
  return made;
}

CudaDevice::CudaDevice(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
CudaDevice::~CudaDevice() = default;

int CudaDevice::number() const { return parts_->context.device; }
const std::string& CudaDevice::name() const { return parts_->name; }
int CudaDevice::architecture() const { return parts_->architecture; }
int CudaDevice::processors() const { return parts_->processors; }
int64_t CudaDevice::shared_bytes() const { return parts_->shared_bytes; }
CudaStream CudaDevice::stream() const { return parts_->stream(); }
const CudaContext& CudaDevice::context() const { return parts_->context; }

// Memory. ----------------------------------------------------------------------------------------------------------------

Result<char*> CudaDevice::allocate(int64_t bytes) {
  ActiveContext active(parts_->context);
  if (!active.ok()) return active.failure();
  LaunchBatch* batch = parts_->batch();
  if (batch == nullptr || batch->stream() != stream()) return parts_->pool.allocate(bytes, stream());
  if (char* memory = batch->reuse_deferred(bytes)) return memory;
  if (batch->defers_much()) (void)batch->submit();  // its failure is that of all later calls
  auto memory = parts_->pool.allocate(bytes, stream());
  if (memory.ok() || memory.failure().reason != Reason::out_of_device_memory || !batch->has_deferred()) return memory;
  (void)batch->submit();
  return parts_->pool.allocate(bytes, stream());
}

void CudaDevice::release(char* memory) {
  ActiveContext active(parts_->context);
  if (!memory || !active.ok()) return;
  LaunchBatch* batch = parts_->batch();
  if (batch != nullptr && batch->has_launches())
    batch->defer_release(memory);
  else
    parts_->pool.release(memory, stream());
}

void CudaDevice::use(char* memory, CudaStream stream) {
  if (!in_child_without_cuda()) parts_->pool.use(memory, plain_stream(stream));
}

Result<int64_t*> CudaDevice::take_words(int count) {
  ActiveContext active(parts_->context);
  if (!active.ok()) return active.failure();
  return parts_->words.take(count);
}

void CudaDevice::give_words_back(int64_t* words, int count) {
  if (!in_child_without_cuda()) parts_->words.give_back(words, count);
}

char* CudaDevice::device_address(int64_t* words) {
  return in_child_without_cuda() ? nullptr : parts_->words.device_address(words);
}

bool CudaDevice::is_device_memory(const void* address) {
  constexpr int memory_type = 2;  // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
  constexpr unsigned of_device = 2;
  ActiveContext active(parts_->context);
  unsigned type = 0;
  return active.ok() &&
         parts_->context.driver->cuPointerGetAttribute(&type, memory_type, static_cast<const char*>(address)) == 0 &&
         type == of_device;
}

DeviceMemoryInfo CudaDevice::memory_info() {
  DeviceMemoryInfo info;
  ActiveContext active(parts_->context);
  if (!active.ok()) return info;
  size_t free = 0, total = 0;
  parts_->context.driver->cuMemGetInfo(&free, &total);
  info.free = static_cast<int64_t>(free);
  info.total = static_cast<int64_t>(total);
  parts_->pool.count(info);
  return info;
}

void CudaDevice::set_memory_limit(int64_t bytes) {
  if (!in_child_without_cuda()) parts_->pool.set_limit(bytes);
}

void CudaDevice::release_cached() {
  ActiveContext active(parts_->context);
  if (active.ok()) parts_->pool.release_unused();
}

// Copies and waits. ------------------------------------------------------------------------------------------------------

Status CudaDevice::upload(char* to, const void* from, int64_t bytes) {
  if (bytes == 0) return Unit{};
  ActiveContext active(parts_->context);
  if (!active.ok()) return active.failure();
  ACCEL_TRY([[maybe_unused]] Unit submitted, parts_->submit());
  count_bytes(parts_->counters.uploads, parts_->counters.bytes_up, bytes);
  return parts_->staging.upload(to, static_cast<const char*>(from), bytes, stream());
}

Status CudaDevice::download(void* to, const char* from, int64_t bytes) {
  if (bytes == 0) return Unit{};
  ActiveContext active(parts_->context);
  if (!active.ok()) return active.failure();
  ACCEL_TRY([[maybe_unused]] Unit submitted, parts_->submit());
  count_bytes(parts_->counters.downloads, parts_->counters.bytes_down, bytes);
  return parts_->staging.download(static_cast<char*>(to), from, bytes, stream());
}

Status CudaDevice::copy(char* to, const char* from, int64_t bytes) {
  if (bytes == 0) return Unit{};
  ActiveContext active(parts_->context);
  if (!active.ok()) return active.failure();
  ACCEL_TRY([[maybe_unused]] Unit submitted, parts_->submit());
  ACCEL_CUDA(*parts_->context.driver, cuMemcpyDtoDAsync, to, from, static_cast<size_t>(bytes), stream());
  return Unit{};
}

Status CudaDevice::wait() {
  ActiveContext active(parts_->context);
  if (!active.ok()) return active.failure();
  ACCEL_TRY([[maybe_unused]] Unit submitted, parts_->submit());
  count_one(parts_->counters.waits);
  ACCEL_CUDA(*parts_->context.driver, cuStreamSynchronize, stream());
  return Unit{};
}

Status CudaDevice::wait_for_all() {
  ActiveContext active(parts_->context);
  if (!active.ok()) return active.failure();
  ACCEL_TRY([[maybe_unused]] Unit submitted, parts_->submit());
  count_one(parts_->counters.waits);
  ACCEL_CUDA(*parts_->context.driver, cuCtxSynchronize);
  return Unit{};
}

Status CudaDevice::order_after(CudaStream other) {
  ActiveContext active(parts_->context);
  if (!active.ok()) return active.failure();
  ACCEL_TRY([[maybe_unused]] Unit submitted, parts_->submit());
  return parts_->events.order(stream(), plain_stream(other));
}

Result<CudaStream> CudaDevice::download_stream() {
  ActiveContext active(parts_->context);
  if (!active.ok()) return active.failure();
  std::lock_guard lock(parts_->stream_mutex);
  constexpr unsigned is_not_blocking = 1;  // CU_STREAM_NON_BLOCKING
  if (parts_->download_stream == nullptr)
    ACCEL_CUDA(*parts_->context.driver, cuStreamCreate, &parts_->download_stream, is_not_blocking);
  return parts_->download_stream;
}

Status CudaDevice::submit() {
  if (parts_->batch() == nullptr) return Unit{};
  ActiveContext active(parts_->context);
  if (!active.ok()) return active.failure();
  return parts_->submit();
}

DeviceCounters CudaDevice::counters() const {
  const auto& now = parts_->counters;
  const LaunchCounters& launched = parts_->launch_counters;
  return {launched.launches, now.waits,      now.uploads,     now.downloads,
          now.bytes_up,      now.bytes_down, launched.graphs, launched.graph_launches};
}

StreamScope::StreamScope(CudaDevice& device, CudaStream stream) : device_(device), before_(device.stream()) {
  current_streams[device.number()] = plain_stream(stream);
}

StreamScope::~StreamScope() { current_streams[device_.number()] = before_; }

DeviceBlock::~DeviceBlock() {
  if (device && data && !guest) device->release(data);
}

Result<std::shared_ptr<DeviceBlock>> new_device_block(CudaDevice& device, int64_t bytes) {
  auto block = std::make_shared<DeviceBlock>();
  ACCEL_TRY(block->data, device.allocate(bytes));
  block->device = &device;
  block->bytes = bytes;
  return block;
}

}  // namespace accel
