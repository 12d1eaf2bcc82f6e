// A CUDA driver for tests of calls to NVIDIA's libraries: one device whose memory is the host's and whose work is done at once.
// It launches nothing.

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace {
thread_local void* current = nullptr;
int context;
int event;
}  // namespace

extern "C" {
int cuGetErrorName(int, const char** name) { return *name = "error", 0; }
int cuGetErrorString(int, const char** text) { return *text = "text", 0; }
int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int* version) { return *version = 13000, 0; }
int cuDeviceGetCount(int* count) { return *count = 1, 0; }
int cuDeviceGet(int* device, int number) { return *device = number, 0; }
int cuDeviceGetName(char* name, int bytes, int) { return std::strncpy(name, "fake", static_cast<size_t>(bytes)), 0; }
int cuDeviceGetAttribute(int* value, int, int) { return *value = 9, 0; }
int cuDevicePrimaryCtxRetain(void** made, int) { return *made = &context, 0; }
int cuCtxGetCurrent(void** now) { return *now = current, 0; }
int cuCtxSetCurrent(void* now) { return current = now, 0; }
int cuCtxSynchronize() { return 0; }
int cuMemGetInfo_v2(size_t* free, size_t* total) { return *free = *total = size_t{1} << 30, 0; }
int cuMemAlloc_v2(char** memory, size_t bytes) { return *memory = static_cast<char*>(std::calloc(bytes, 1)), 0; }
int cuMemFree_v2(char* memory) { return std::free(memory), 0; }
int cuMemFreeAsync(char* memory, void*) { return std::free(memory), 0; }
int cuMemHostAlloc(void** memory, size_t bytes, unsigned) { return *memory = std::calloc(bytes, 1), 0; }
int cuMemFreeHost(void* memory) { return std::free(memory), 0; }
int cuMemHostGetDevicePointer_v2(char** address, void* memory, unsigned) { return *address = static_cast<char*>(memory), 0; }
int cuMemcpyHtoDAsync_v2(char* to, const void* from, size_t bytes, void*) { return std::memcpy(to, from, bytes), 0; }
int cuMemcpyDtoHAsync_v2(void* to, const char* from, size_t bytes, void*) { return std::memcpy(to, from, bytes), 0; }
int cuPointerGetAttribute(unsigned* value, int, const char*) { return *value = 2, 0; }
int cuMemcpyDtoDAsync_v2(char* to, const char* from, size_t bytes, void*) { return std::memmove(to, from, bytes), 0; }
int cuStreamCreate(void** made, unsigned) { return *made = &event, 0; }
int cuStreamSynchronize(void*) { return 0; }
int cuStreamWaitEvent(void*, void*, unsigned) { return 0; }
int cuEventCreate(void** made, unsigned) { return *made = &event, 0; }
int cuEventRecord(void*, void*) { return 0; }
int cuEventQuery(void*) { return 0; }
int cuEventSynchronize(void*) { return 0; }
int cuModuleLoadData(void**, const void*) { return 801; }
int cuModuleUnload(void*) { return 801; }
int cuModuleGetFunction(void**, void*, const char*) { return 801; }
int cuFuncSetAttribute(void*, int, int) { return 801; }
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**) {
  return 801;
}
}
