#include "toolchain/host/compiler.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <sstream>

#include "base/settings.h"
#include "toolchain/fork.h"
#include "toolchain/host/invocation.h"
#include "toolchain/host/probe.h"
#include "toolchain/host/words.h"
#include "toolchain/toolchain.h"

namespace accel {
namespace {

std::optional<struct stat> program_info(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || access(path.c_str(), X_OK) != 0) return std::nullopt;
  return info;
}

std::optional<std::string> find_on_path(const std::string& name, const std::string& search) {
  if (name.find('/') != name.npos) return program_info(name) ? std::optional(name) : std::nullopt;
  std::istringstream folders(search);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (folder.empty()) continue;  // an empty element would mean the current folder
    std::string path = folder + "/" + name;
    if (program_info(path)) return path;
  }
  return std::nullopt;
}

using Words = std::vector<std::string>;

std::atomic<Words (*)()> packaged_compiler_finder{nullptr};

std::optional<Compiler> locate_command(Words command, const std::string& search) {
  if (command.empty()) return std::nullopt;
  auto path = find_on_path(command[0], search);
  if (!path) return std::nullopt;
  command[0] = *path;
  struct stat info = *program_info(*path);
  std::string identity =
      std::to_string(info.st_size) + " " + std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec);
  for (const auto& word : command) identity += '\0' + word;
  return Compiler{command, identity};
}

Result<Compiler> locate(const std::string& wanted, const std::string& search) {
  ACCEL_TRY(auto words, split_words(wanted, "CXX (the setting compiler)"));
  if (!words.empty()) {
    if (auto given = locate_command(words, search)) return *given;
    return fail(Reason::no_compiler, "'" + words[0] + "' (CXX) is not there");
  }
  for (const char* name : {"g++", "clang++"})
    if (auto usual = locate_command({name}, search)) return *usual;
  if (auto find = packaged_compiler_finder.load())
    if (auto packaged = locate_command(find(), search)) return *packaged;
  return fail(Reason::no_compiler, search.empty() ? "PATH is empty" : "neither g++ nor clang++ is on PATH");
}

struct Found {
  std::mutex mutex;
  std::string wanted, search;
  std::optional<Compiler> compiler;

  bool is_current(const std::string& wanted_now, const std::string& search_now) const {
    return compiler && wanted == wanted_now && search == search_now;
  }
};

Found& found() { return process_wide<Found>(); }

std::string search_path() {
  const char* path = std::getenv("PATH");
  return path ? path : "";
}

}  // namespace

void set_packaged_compiler_finder(Words (*find)()) { packaged_compiler_finder = find; }

Result<Compiler> find_compiler() {
  const std::string& wanted = settings().compiler.get();
  std::string search = search_path();
  Found& last = found();
  {
    std::lock_guard lock(last.mutex);
    if (last.is_current(wanted, search) && program_info(last.compiler->command[0])) return *last.compiler;
  }
  // Without the lock: the finder waits for the GIL, whose owner may wait for the lock.
  ACCEL_TRY(Compiler compiler, locate(wanted, search));
  std::lock_guard lock(last.mutex);
  last.wanted = wanted;
  last.search = search;
  last.compiler = compiler;
  return compiler;
}

std::string cached_compiler_identity() {
  std::lock_guard lock(found().mutex);
  return found().is_current(settings().compiler.get(), search_path()) ? found().compiler->identity : "";
}

Result<std::string> run_compiler(const Compiler& compiler, std::string_view text, const std::string& archive) {
  ACCEL_TRY(auto extra, split_words(settings().extra_flags.get(), "the setting extra_flags"));
  ACCEL_TRY(Probe known, probe(compiler));
  auto flags = known.flags;
  flags.emplace_back("-w");
  flags.insert(flags.end(), extra.begin(), extra.end());
  ACCEL_TRY(Invocation made, invoke(compiler, flags, text, archive));
  if (!made.object) return made.failure;
  return std::move(*made.object);
}

}  // namespace accel
