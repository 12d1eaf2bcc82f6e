#pragma once
// The host's C++ compiler: where it is, and what it makes of a kernel.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace accel {

struct Compiler {
  std::vector<std::string> command;  // full path and leading arguments
  std::string identity;              // size and time of change, the command: differs after an upgrade
};

// The setting `compiler` (CXX) when it is given, else g++, else clang++ on PATH, else the one of a Python package
// (toolchain.h). Starts nothing; fails with no_compiler or bad_command. The result is cached until the setting or PATH changes.
Result<Compiler> find_compiler();

// The identity that find_compiler() would give, or "" when its result is not cached for the current setting and PATH. Reads no
// file: a warm start must not depend on a compiler.
std::string cached_compiler_identity();

// Compiles a translation unit, with the flags of kernels that the compiler understands and those of the setting `extra_flags`,
// to a shared object and returns its bytes. Fails with compiler_failed, compiler_timeout or bad_command.
// `archive`: path of a static library that it is linked with; "": none.
Result<std::string> run_compiler(const Compiler& compiler, std::string_view text, const std::string& archive = {});

}  // namespace accel
