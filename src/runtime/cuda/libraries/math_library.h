#pragma once
// A library of NVIDIA's with handles for devices, as cuBLAS and cuSOLVER are. It is loaded when it is first needed.

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/dtype.h"
#include "toolchain/cuda/libraries.h"

namespace accel {

struct MathLibraryInfo {
  std::string path;
  int major = 0, minor = 0;
};

// `Functions`: a struct of the pointers to the functions that accel calls, among them int get_property(int property, int*).
// Lives for ever.
template <class Functions>
class MathLibrary {
 public:
  // `symbols`: the names of the functions, in the order of the struct.
  MathLibrary(CudaLibraryNames names, std::vector<const char*> symbols)
      : names_(std::move(names)), symbols_(std::move(symbols)) {}

  // Fails with no_cuda_library; the next call tries again.
  Result<const Functions*> functions() {
    if (!is_loaded_) cuda_library_folders();  // may run Python code, which must not wait for this lock
    std::lock_guard lock(loading_);
    if (!is_loaded_) {
      ACCEL_TRY([[maybe_unused]] Unit done, load());
    }
    return const_cast<const Functions*>(&functions_);
  }
  Result<MathLibraryInfo> info() {
    ACCEL_TRY([[maybe_unused]] const Functions* loaded, functions());
    return info_;
  }

  // A handle may be used by one thread at a time: by the one that has this mutex.
  std::mutex& mutex() { return mutex_; }
  // The handle of a device, null at first. Requires the mutex. Handles are made with the device's context current and are never
  // destroyed.
  void*& handle(int device) { return handles_[device]; }

 private:
  static constexpr int major_property = 0, minor_property = 1;  // of libraryPropertyType

  Status load() {
    ACCEL_TRY(CudaLibrary library, open_cuda_library(names_, Reason::no_cuda_library));
    static_assert(sizeof(Functions) % sizeof(void*) == 0);
    ACCEL_TRY([[maybe_unused]] Unit found,
              find_functions(library, symbols_, reinterpret_cast<void**>(&functions_), Reason::no_cuda_library));
    info_.path = library.path;
    functions_.get_property(major_property, &info_.major);
    functions_.get_property(minor_property, &info_.minor);
    is_loaded_ = true;
    return Unit{};
  }

  const CudaLibraryNames names_;
  const std::vector<const char*> symbols_;
  std::mutex loading_, mutex_;
  std::atomic<bool> is_loaded_{false};
  Functions functions_{};
  MathLibraryInfo info_;
  std::map<int, void*> handles_;
};

// A dtype of floats or complex numbers as a cudaDataType.
inline int cuda_data_type(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return 0;
    case DType::float64:
      return 1;
    case DType::complex64:
      return 4;
    default:
      return 5;
  }
}

// Whether a call of a library succeeded. `no_memory`: the status by which it says that it lacks memory.
inline Status check_library_call(const std::string& call, int status, int no_memory) {
  if (status == 0) return Unit{};
  return fail(status == no_memory ? Reason::out_of_device_memory : Reason::cuda_failed,
              call + ": status " + std::to_string(status));
}

}  // namespace accel
