#pragma once
// The emulated CUDA driver and NVRTC (tests/support/emulated_driver), which the build makes.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/settings.h"
#include "runtime/cuda/device.h"

namespace accel {

class CudaTest : public ::testing::Test {
 protected:
  static constexpr const char* folder = ACCEL_EMULATED_DRIVER;

  void SetUp() override {
    settings().cuda_driver.set(std::string(folder) + "/libemulated_cuda.so");
    settings().cuda_pool.set(true);
    auto opened = CudaDevice::open(0);
    ASSERT_TRUE(opened.ok()) << opened.failure().detail;
    device_ = *opened;
  }

  void TearDown() override {
    fail_call(nullptr, 0, 0, 0);
    reset();
    for (const char* option : {"order", "seed", "eager", "limit"}) set_option(option, 0);
    for (const char* option : {"hide", "workers"}) set_option(option, 1);
    if (!device_) return;
    device_->set_memory_limit(0);
    EXPECT_EQ(device_->memory_info().used, 0);
    device_->release_cached();
    EXPECT_EQ(device_->memory_info().cached, 0);
  }

  template <class F>
  static F* emulator(const char* name) {
    static void* library = dlopen((std::string(folder) + "/libemulated_cuda.so").c_str(), RTLD_NOW);
    return reinterpret_cast<F*>(dlsym(library, name));
  }
  static void set_option(const char* name, long value) { emulator<int(const char*, long)>("cuEmulateSet")(name, value); }
  static void fail_call(const char* function, long nth, int code, int is_sticky) {
    emulator<void(const char*, long, int, int)>("cuEmulateFail")(function, nth, code, is_sticky);
  }
  static void reset() { emulator<void()>("cuEmulateReset")(); }
  static long calls(const char* function) { return emulator<long(const char*)>("cuEmulateCalls")(function); }
  static CudaStream new_stream() {
    CudaStream stream = nullptr;
    emulator<int(CudaStream*, unsigned)>("cuStreamCreate")(&stream, 1);  // not ordered with the default stream
    return stream;
  }

  // The image of CUDA text.
  static std::string compile(const std::string& text) {
    static void* library = dlopen((std::string(folder) + "/libemulated_nvrtc.so").c_str(), RTLD_NOW);
    auto call = [&](const char* name, auto... arguments) {
      return reinterpret_cast<int (*)(decltype(arguments)...)>(dlsym(library, name))(arguments...);
    };
    void* program = nullptr;
    const char* options[] = {"--gpu-architecture=sm_90"};
    size_t bytes = 0;
    call("nvrtcCreateProgram", &program, text.c_str(), "kernel.cu", 0, nullptr, nullptr);
    if (call("nvrtcCompileProgram", program, 1, options) != 0) {
      call("nvrtcGetProgramLogSize", program, &bytes);
      std::string log(bytes, '\0');
      call("nvrtcGetProgramLog", program, log.data());
      ADD_FAILURE() << log;
    }
    call("nvrtcGetCUBINSize", program, &bytes);
    std::string image(bytes, '\0');
    call("nvrtcGetCUBIN", program, image.data());
    call("nvrtcDestroyProgram", &program);
    return image;
  }

  // Kernels of the tests, compiled once.
  enum Kernel { fill, add, sum, large_shared, beyond, write_word };
  static const DeviceModule& kernels(CudaDevice& device) {
    static const auto module = DeviceModule::load(device, compile(R"(
      extern "C" __global__ void __launch_bounds__(256) fill(int* out, int n, int value) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) out[i] = value;
      }
      extern "C" __global__ void add(const int* a, const int* b, int* out, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) out[i] = a[i] + b[i];
      }
      extern "C" __global__ void sum(const int* a, int* out) {
        __shared__ int part[8];
        int v = a[threadIdx.x];
        for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
        if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
        __syncthreads();
        if (threadIdx.x == 0) for (int w = 1; w < blockDim.x / 32; ++w) v += part[w];
        if (threadIdx.x == 0) *out = v;
      }
      extern "C" __global__ void large_shared(int* out, int n) {
        extern __shared__ alignas(16) unsigned char dynamic_shared[];
        int* row = (int*)dynamic_shared;
        for (int i = threadIdx.x; i < n; i += blockDim.x) row[i] = i;
        __syncthreads();
        for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = row[n - 1 - i];
      }
      extern "C" __global__ void beyond(int* out, int at) { out[at] = 1; }
      extern "C" __global__ void write_word(long long* word, long long value) { *word = value; }
    )"),
                                                  {"fill", "add", "sum", "large_shared", "beyond", "write_word"});
    EXPECT_TRUE(module.ok()) << module.failure().detail;
    return *module.value();
  }

  template <class... A>
  Status launch(Kernel kernel, LaunchShape shape, A... arguments) {
    void* pointers[] = {&arguments...};
    return kernels(*device_).launch(kernel, shape, pointers);
  }

  char* allocate(int64_t bytes) {
    auto memory = device_->allocate(bytes);
    EXPECT_TRUE(memory.ok()) << memory.failure().detail;
    return memory.ok() ? *memory : nullptr;
  }
  std::vector<int> ints(const char* from, size_t count) {
    std::vector<int> values(count);
    EXPECT_TRUE(device_->download(values.data(), from, static_cast<int64_t>(count * sizeof(int))).ok());
    return values;
  }

  CudaDevice* device_ = nullptr;
};

}  // namespace accel
