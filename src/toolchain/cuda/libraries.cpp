#include "toolchain/cuda/libraries.h"

#include <dlfcn.h>
#include <fnmatch.h>
#include <link.h>
#include <unistd.h>

#include <filesystem>
#include <mutex>
#include <optional>

#include "toolchain/device_code.h"
#include "toolchain/fork.h"

namespace accel {
namespace {

constexpr const char* system_folder = "/usr/local/cuda/lib64";

struct Folders {
  std::mutex mutex;
  std::vector<std::string> (*find)() = nullptr;
  std::optional<std::vector<std::string>> known;
};

Folders& folders() { return process_wide<Folders>(); }

bool is_file(const std::string& path) { return access(path.c_str(), R_OK) == 0; }

// Files of a folder whose names match.
std::vector<std::string> matches(const std::string& folder, const std::string& pattern) {
  std::vector<std::string> paths;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (fnmatch(pattern.c_str(), at->path().filename().c_str(), 0) == 0) paths.push_back(at->path());
  return paths;
}

// A library that is already in the process is found by its name, whatever the search of the system's loader would give.
void open_needed(const std::string& folder, const CudaLibraryNames& names) {
  std::vector<std::string> searched = cuda_library_folders();
  searched.insert(searched.begin(), folder);
  for (const std::string& pattern : names.needed)
    for (const std::string& place : searched) {
      bool opened = false;
      for (const std::string& path : matches(place, pattern)) opened |= dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr;
      if (opened) break;
    }
}

std::string path_of(void* library, const std::string& name) {
  link_map* map = nullptr;
  return dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0] != 0 ? map->l_name : name;
}

Result<CudaLibrary> open_named(const std::string& name, Reason missing) {
  if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return CudaLibrary{handle, path_of(handle, name)};
  const char* message = dlerror();
  return fail(missing, message ? message : name);
}

// What the loader says of a library that is there but cannot be opened is worth more than that others are not there.
struct Attempts {
  std::string problem;
  bool add(const Result<CudaLibrary>& attempt, bool is_there) {
    if (!attempt.ok() && is_there && problem.empty()) problem = attempt.failure().detail;
    return attempt.ok();
  }
};

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

void set_cuda_library_finder(std::vector<std::string> (*find)()) {
  std::lock_guard lock(folders().mutex);
  folders().find = find;
}

void set_cuda_library_folders(std::vector<std::string> given) {
  std::lock_guard lock(folders().mutex);
  folders().known = std::move(given);
}

std::vector<std::string> cuda_library_folders() {
  std::vector<std::string> (*find)() = nullptr;
  {
    std::lock_guard lock(folders().mutex);
    if (folders().known) return *folders().known;
    find = folders().find;
  }
  std::vector<std::string> found = find ? find() : std::vector<std::string>();
  std::lock_guard lock(folders().mutex);
  if (!folders().known && find) folders().known = found;
  return found;
}

Result<CudaLibrary> open_cuda_library_at(const std::string& path, const CudaLibraryNames& names, Reason missing) {
  if (size_t end = path.find_last_of('/'); end != path.npos && is_file(path)) open_needed(path.substr(0, end), names);
  return open_named(path, missing);
}

Result<CudaLibrary> open_cuda_library(const CudaLibraryNames& names, Reason missing) {
  Attempts attempts;
  auto in_folder = [&](const std::string& folder) -> std::optional<Result<CudaLibrary>> {
    for (const std::string& name : names.names) {
      std::string path = folder + "/" + name;
      if (!is_file(path)) continue;
      auto library = open_cuda_library_at(path, names, missing);
      if (attempts.add(library, true)) return library;
    }
    return std::nullopt;
  };
  for (const std::string& folder : cuda_library_folders())
    if (auto library = in_folder(folder)) return *library;
  for (const std::string& name : names.names)
    if (auto library = open_named(name, missing); attempts.add(library, false)) return library;
  if (auto library = in_folder(system_folder)) return *library;
  if (!attempts.problem.empty()) return fail(missing, attempts.problem);
  return fail(missing, "none of " + listed(names.names) + " is there");
}

Status find_functions(const CudaLibrary& library, const std::vector<const char*>& names, void** functions, Reason missing) {
  for (const char* name : names) {
    void* function = dlsym(library.handle, name);
    if (!function) return fail(missing, library.path + " lacks " + name);
    *functions++ = function;
  }
  return Unit{};
}

}  // namespace accel
