#include "toolchain/host/invocation.h"

#include <string.h>

#include <cstdlib>
#include <sstream>

#include "base/settings.h"
#include "toolchain/files.h"

namespace accel {
namespace {

std::string folder_of(const std::string& path) { return path.substr(0, path.find_last_of('/')); }

// g++ looks for the assembler and linker on PATH, which may be empty or lack the folder of a compiler given by its path.
std::vector<std::string> child_environment(const Compiler& compiler, const std::string& temporary) {
  const char* search = std::getenv("PATH");
  std::string path = search ? search : "";
  return {"PATH=" + (path.empty() ? "" : path + ":") + folder_of(compiler.command[0]) + ":/usr/bin:/bin", "LC_ALL=C",
          "TMPDIR=" + temporary};
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

bool is_object(const std::string& bytes) {
  return bytes.starts_with(
      "\x7f"
      "ELF");
}

// Libraries come after what needs them. An option of LLVM is a word after its flag's.
std::vector<std::string> arguments_of(const std::vector<std::string>& flags, const std::string& input,
                                      const std::string& output, const std::string& archive) {
  std::vector<std::string> arguments, libraries;
  constexpr std::string_view llvm = "-mllvm ";
  for (const auto& flag : flags) {
    if (flag.starts_with(llvm))
      arguments.insert(arguments.end(), {"-mllvm", flag.substr(llvm.size())});
    else
      (flag.starts_with("-l") ? libraries : arguments).push_back(flag);
  }
  arguments.insert(arguments.end(), {input, "-o", output});
  if (!archive.empty()) arguments.insert(arguments.end(), {archive, "-Wl,--exclude-libs,ALL", "-lm"});
  arguments.insert(arguments.end(), libraries.begin(), libraries.end());
  return arguments;
}

}  // namespace

Result<Invocation> invoke(const Compiler& compiler, const std::vector<std::string>& flags, std::string_view text,
                          const std::string& archive) {
  TemporaryFolder folder;
  if (!folder.ok()) return fail(Reason::compiler_failed, "no temporary folder can be made: set TMPDIR");
  std::string input = folder.path() + "/kernel.cpp", output = folder.path() + "/kernel.so";
  if (int error = write_file(input, text)) return fail(Reason::compiler_failed, input + ": " + error_text(error));
  auto command = compiler.command;
  for (auto& argument : arguments_of(flags, input, output, archive)) command.push_back(argument);
  auto result = run_process(command, child_environment(compiler, folder.path()), settings().compile_timeout);
  bool over = (result.end == ProcessEnd::exited && result.code == 0) || result.end == ProcessEnd::unknown;
  auto object = over ? read_file(output) : std::nullopt;
  if (object && is_object(*object)) return Invocation{std::move(object), {}, false};
  return Invocation{std::nullopt, failure_of(compiler, result, folder.path()), result.end == ProcessEnd::exited};
}

Result<std::string> compiler_version(const Compiler& compiler) {
  auto command = compiler.command;
  command.push_back("--version");
  auto result = run_process(command, child_environment(compiler, "/tmp"), settings().compile_timeout);
  if (result.end != ProcessEnd::exited || result.code != 0) return failure_of(compiler, result, "/tmp");
  return result.output.substr(0, result.output.find('\n'));
}

}  // namespace accel
