// What the libraries for tests share.
#pragma once

#include <dlfcn.h>

#include <complex>
#include <cstdlib>

namespace fake_cuda {

// A library does work of the device, after all that the emulated driver was given before.
class DeviceWork {
 public:
  DeviceWork() { call("cuEmulateBeginWork"); }
  ~DeviceWork() { call("cuEmulateEndWork"); }

 private:
  static void call(const char* name) {
    const char* path = std::getenv("ACCEL_CUDA_DRIVER");
    void* driver = path ? dlopen(path, RTLD_NOW) : nullptr;
    if (auto* function = driver ? reinterpret_cast<void (*)()>(dlsym(driver, name)) : nullptr) function();
  }
};

template <class T>
T conjugate(T value) {
  return value;
}
template <class T>
std::complex<T> conjugate(std::complex<T> value) {
  return std::conj(value);
}

}  // namespace fake_cuda
