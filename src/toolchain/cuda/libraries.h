#pragma once
// NVIDIA's libraries: where they are, and how they are opened. No header of theirs is needed and nothing is linked with them.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace accel {

// Asked once, when the first library is needed, for the folders in which NVIDIA's Python packages have their libraries. Called
// without locks of accel.
void set_cuda_library_finder(std::vector<std::string> (*find)());

// What set_cuda_library_folders (device_code.h) was given, else what the finder found.
std::vector<std::string> cuda_library_folders();

struct CudaLibrary {
  void* handle = nullptr;  // for dlsym; never closed
  std::string path;
};

// How a library is searched for.
struct CudaLibraryNames {
  std::vector<std::string> names;   // "libcublas.so.13", the preferred one first
  std::vector<std::string> needed;  // patterns of libraries that it opens or is linked with, in the order of their dependencies
};

// The first library that can be opened: in cuda_library_folders(), by the system's search, in /usr/local/cuda/lib64. Fails with
// `missing`, and says what could not be opened.
Result<CudaLibrary> open_cuda_library(const CudaLibraryNames& names, Reason missing);

// The library at `path`, a file.
Result<CudaLibrary> open_cuda_library_at(const std::string& path, const CudaLibraryNames& names, Reason missing);

// Sets the pointers of a table of functions to the symbols `names`. Fails with `missing` when the library lacks one.
Status find_functions(const CudaLibrary& library, const std::vector<const char*>& names, void** functions, Reason missing);

}  // namespace accel
