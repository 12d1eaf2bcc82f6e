#include "toolchain/host/compiler.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <optional>
#include <sstream>

#include "base/settings.h"
#include "toolchain/files.h"
#include "toolchain/fork.h"
#include "toolchain/host/process.h"

namespace accel {
namespace {

// Where g++ (12, 13) splits a loop under a check that a store and a load do not overlap, the check misses the last element that
// a conditional store writes.
constexpr const char* no_loop_distribution = "-fno-tree-loop-distribution";

// -ffp-contract=off and the absence of -ffast-math preserve NumPy's bits. -ftrapping-math preserves events: without it g++
// evaluates operations on constants at compile time, also those that a selection may give, and computes both sides of branches.
// -nostdlib saves the search for and the linking of libraries no kernel needs, a third of the compile time of a small kernel;
// -lgcc (static) still provides 128-bit division and half-precision conversion. What a kernel takes from libc and libm is
// resolved when it is loaded.
constexpr const char* base_flags[] = {"-O3",
                                      "-march=native",
                                      "-ffp-contract=off",
                                      "-fno-math-errno",
                                      "-ftrapping-math",
                                      "-fno-tree-sink",  // selections stay selections, and what they drop is computed
                                      "-fno-unswitch-loops",
                                      no_loop_distribution,
                                      "-fwrapv",
                                      "-std=c++20",
                                      "-shared",
                                      "-fPIC",
                                      "-w",
                                      "-pipe",
                                      "-nostdlib",
                                      "-fno-exceptions",
                                      "-fno-rtti",
                                      "-fno-asynchronous-unwind-tables",
                                      "-fno-semantic-interposition",
                                      "-falign-loops=32",  // short loops run from whole lines of decoded instructions
                                      "-Wl,-Bsymbolic"};

std::vector<std::string> split_blanks(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

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

Result<Compiler> locate(const std::string& wanted, const std::string& search) {
  std::vector<std::vector<std::string>> candidates{{"g++"}, {"clang++"}};
  if (auto words = split_blanks(wanted); !words.empty()) candidates = {words};
  for (auto& command : candidates) {
    auto path = find_on_path(command[0], search);
    if (!path) continue;
    command[0] = *path;
    struct stat info = *program_info(*path);
    std::string identity = *path + " " + std::to_string(info.st_size) + " " + std::to_string(info.st_mtim.tv_sec) + "." +
                           std::to_string(info.st_mtim.tv_nsec);
    return Compiler{command, identity};
  }
  if (candidates.size() == 1) return fail(Reason::no_compiler, "'" + candidates[0][0] + "' (CXX) is not there");
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

std::string folder_of(const std::string& path) { return path.substr(0, path.find_last_of('/')); }

// g++ looks for the assembler and linker on PATH, which may be empty or lack the folder of a compiler given by its path.
// clang++ takes back what it does not know and would refuse.
std::vector<std::string> child_environment(const Compiler& compiler, const std::string& temporary) {
  std::string path = search_path();
  return {"PATH=" + (path.empty() ? "" : path + ":") + folder_of(compiler.command[0]) + ":/usr/bin:/bin", "LC_ALL=C",
          "TMPDIR=" + temporary, std::string("CCC_OVERRIDE_OPTIONS=# x") + no_loop_distribution};
}

void erase_all(std::string& text, const std::string& part) {
  for (size_t at; (at = text.find(part)) != text.npos;) text.erase(at, part.size());
}

// The first lines that name an error, or else the first lines, as one line.
std::string summary(std::string output, const std::string& folder) {
  erase_all(output, folder + "/");
  std::string errors, lines;
  int error_count = 0, line_count = 0;
  std::istringstream stream(output);
  for (std::string line; std::getline(stream, line);) {
    if (line.empty()) continue;
    bool is_error = line.find("error") != line.npos || line.find("undefined") != line.npos;
    if (is_error && error_count++ < 3) errors += (errors.empty() ? "" : " | ") + line;
    if (line_count++ < 3) lines += (lines.empty() ? "" : " | ") + line;
  }
  return errors.empty() ? lines : errors;
}

Failure failure_of(const Compiler& compiler, const ProcessResult& result, const std::string& folder) {
  std::string text = summary(result.output, folder);
  std::string detail = text.empty() ? "" : ": " + text;
  const std::string& program = compiler.command[0];
  switch (result.end) {
    case ProcessEnd::not_started:
      return fail(Reason::compiler_failed, program + " could not be started: " + error_text(result.code));
    case ProcessEnd::signaled:
      return fail(Reason::compiler_failed, program + " was killed by signal " + std::to_string(result.code) + " (" +
                                               strsignal(result.code) + ")" + detail);
    case ProcessEnd::timed_out:
      return fail(Reason::compiler_timeout, program + detail);
    case ProcessEnd::interrupted:
      return fail(Reason::interrupted, {});
    case ProcessEnd::exited:
      if (result.code != 0)
        return fail(Reason::compiler_failed, program + " exited with status " + std::to_string(result.code) + detail);
      break;
    case ProcessEnd::unknown:
      break;
  }
  return fail(Reason::compiler_failed, program + " left no shared object" + detail);
}

}  // namespace

Result<Compiler> find_compiler() {
  const std::string& wanted = settings().compiler.get();
  std::string search = search_path();
  std::lock_guard lock(found().mutex);
  Found& last = found();
  if (last.is_current(wanted, search) && program_info(last.compiler->command[0])) return *last.compiler;
  ACCEL_TRY(Compiler compiler, locate(wanted, search));
  last.wanted = wanted;
  last.search = search;
  last.compiler = compiler;
  return compiler;
}

std::string cached_compiler_identity() {
  std::lock_guard lock(found().mutex);
  return found().is_current(settings().compiler.get(), search_path()) ? found().compiler->identity : "";
}

Result<std::string> compiler_version(const Compiler& compiler) {
  auto command = compiler.command;
  command.push_back("--version");
  auto result = run_process(command, child_environment(compiler, "/tmp"), settings().compile_timeout);
  if (result.end != ProcessEnd::exited || result.code != 0) return failure_of(compiler, result, "/tmp");
  return result.output.substr(0, result.output.find('\n'));
}

std::vector<std::string> compile_flags() {
  std::vector<std::string> flags(std::begin(base_flags), std::end(base_flags));
  for (auto& flag : split_blanks(settings().extra_flags.get())) flags.push_back(flag);
  return flags;
}

Result<std::string> run_compiler(const Compiler& compiler, std::string_view text, const std::string& archive) {
  TemporaryFolder folder;
  if (!folder.ok()) return fail(Reason::compiler_failed, "no temporary folder can be made: set TMPDIR");
  std::string input = folder.path() + "/kernel.cpp", output = folder.path() + "/kernel.so";
  if (int error = write_file(input, text)) return fail(Reason::compiler_failed, input + ": " + error_text(error));
  auto command = compiler.command;
  for (auto& flag : compile_flags()) command.push_back(flag);
  command.insert(command.end(), {"-x", "c++", input, "-o", output, "-x", "none"});
  if (!archive.empty()) command.insert(command.end(), {archive, "-Wl,--exclude-libs,ALL", "-lm"});
  command.push_back("-lgcc");
  auto result = run_process(command, child_environment(compiler, folder.path()), settings().compile_timeout);
  bool over = (result.end == ProcessEnd::exited && result.code == 0) || result.end == ProcessEnd::unknown;
  auto object = over ? read_file(output) : std::nullopt;
  if (!object || !object->starts_with("\x7f"
                                      "ELF"))
    return failure_of(compiler, result, folder.path());
  return std::move(*object);
}

}  // namespace accel
