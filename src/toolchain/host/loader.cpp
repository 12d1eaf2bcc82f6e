#include "toolchain/host/loader.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>

#include "toolchain/files.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U  // Linux 6.3; older kernels reject it and make executable files anyway
#endif

namespace accel {
namespace {

// dlopen takes equal paths for one library without a look at the file, and descriptor numbers are reused. So each path spells a
// number of its own in redundant separators: '/' for 0, "/." for 1.
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

// The record of type T at `offset`, if all of it is there.
template <class T>
std::optional<T> record_at(std::string_view object, uint64_t offset) {
  if (offset > object.size() || object.size() - offset < sizeof(T)) return std::nullopt;
  T record;
  std::memcpy(&record, object.data() + offset, sizeof record);
  return record;
}

bool holds(std::string_view object, uint64_t offset, uint64_t bytes) {
  return offset <= object.size() && bytes <= object.size() - offset;
}

// dlopen maps what the headers name: touching a part that the file does not have kills the process.
Status check_complete(std::string_view object) {
  auto header = record_at<ElfW(Ehdr)>(object, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
    return fail(Reason::load_failed, "the compiler left no shared object");
  bool complete = holds(object, header->e_shoff, uint64_t{header->e_shnum} * header->e_shentsize);
  for (uint64_t k = 0; k < header->e_phnum && complete; k++) {
    auto segment = record_at<ElfW(Phdr)>(object, header->e_phoff + k * header->e_phentsize);
    complete = segment && (segment->p_type != PT_LOAD || holds(object, segment->p_offset, segment->p_filesz));
  }
  if (!complete) return fail(Reason::load_failed, "the shared object is truncated");
  return Unit{};
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
  ACCEL_TRY([[maybe_unused]] Unit complete, check_complete(object));
  open_math_libraries();
  auto library = load_from_memory(object);
  if (library.ok()) return library;
  auto second = load_from_file(object);
  return second.ok() ? second : library;
}

}  // namespace accel
