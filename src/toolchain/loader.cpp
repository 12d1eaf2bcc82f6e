#include "toolchain/loader.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>

#include "toolchain/files.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U  // Linux 6.3; older kernels reject it and make executable files anyway
#endif

namespace accel {
namespace {

// dlopen takes equal paths for the same library without looking, and descriptor numbers come back. So each path spells
// a number of its own in redundant separators: '/' for 0, "/." for 1.
std::string unique_path(int fd) {
  static std::atomic<uint64_t> counter{0};
  std::string path = "/proc/self/fd";
  for (uint64_t number = ++counter; number > 0; number >>= 1) path += number & 1 ? "/." : "/";
  return path + "/" + std::to_string(fd);
}

// Kernels are linked without libraries; these provide the functions that the compiler may call. Usually both are there
// already, but private to their users.
void open_math_libraries() {
  static void* const libraries[] = {dlopen("libm.so.6", RTLD_NOW | RTLD_GLOBAL),
                                    dlopen("libmvec.so.1", RTLD_NOW | RTLD_GLOBAL)};
  (void)libraries;
}

Result<void*> open_library(const std::string& path) {
  if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  const char* message = dlerror();
  return fail(Reason::load_failed, message ? message : path);
}

Result<void*> load_from_memory(std::string_view object) {
  FileDescriptor fd(memfd_create("accel-kernel", MFD_CLOEXEC | MFD_EXEC));
  if (!fd.ok()) fd = FileDescriptor(memfd_create("accel-kernel", MFD_CLOEXEC));
  if (!fd.ok()) return fail(Reason::load_failed, "memfd_create: " + error_text(errno));
  if (int error = write_all(fd.get(), object)) return fail(Reason::load_failed, "memfd: " + error_text(error));
  return open_library(unique_path(fd.get()));
}

// For systems whose policy forbids running memory files.
Result<void*> load_from_file(std::string_view object) {
  TemporaryFolder folder;
  if (!folder.ok()) return fail(Reason::load_failed, "no temporary folder can be made");
  std::string path = folder.path() + "/kernel.so";
  if (int error = write_file(path, object)) return fail(Reason::load_failed, path + ": " + error_text(error));
  return open_library(path);
}

}  // namespace

Result<void*> load_object(std::string_view object) {
  open_math_libraries();
  auto library = load_from_memory(object);
  if (library.ok()) return library;
  auto second = load_from_file(object);
  return second.ok() ? second : library;
}

}  // namespace accel
