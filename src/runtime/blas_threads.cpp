#include "runtime/blas_threads.h"

#include <dlfcn.h>

#include <map>
#include <mutex>

#include "runtime/parallel.h"

namespace accel {
namespace {

using CountThreads = int (*)();

// OpenBLAS's function, by the names that its builds give it, in the library of the function or in one that it needs.
CountThreads find_count(void* function) {
  constexpr const char* names[] = {"scipy_openblas_get_num_threads64_", "scipy_openblas_get_num_threads",
                                   "openblas_get_num_threads64_", "openblas_get_num_threads"};
  Dl_info info{};
  if (dladdr(function, &info) == 0 || info.dli_fname == nullptr) return nullptr;
  void* library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  CountThreads count = nullptr;
  for (const char* name : names)
    if (count == nullptr) count = reinterpret_cast<CountThreads>(dlsym(library, name));
  dlclose(library);
  return count;
}

}  // namespace

int blas_threads(AccelLoop loop) {
  static std::mutex mutex;
  static std::map<void*, CountThreads> found;
  std::lock_guard lock(mutex);
  void* function = reinterpret_cast<void*>(loop);
  auto cached = found.find(function);
  if (cached == found.end()) cached = found.emplace(function, find_count(function)).first;
  int threads = cached->second != nullptr ? cached->second() : 0, own = thread_count();
  return own > 1 && threads <= own ? threads : 0;
}

}  // namespace accel
