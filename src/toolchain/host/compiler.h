#pragma once
// The host's C++ compiler: where it is, and one run of it.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace accel {

struct Compiler {
  std::vector<std::string> command;  // full path and leading arguments
  std::string identity;              // path, size and time of change: differs after an upgrade
};

// The setting `compiler` (CXX) when it is given, else g++, else clang++ on PATH. Starts nothing; fails with no_compiler. The
// result is cached until the setting or PATH changes.
Result<Compiler> find_compiler();

// The identity that find_compiler() would give, or "" when its result is not cached for the current setting and PATH. Reads no
// file: a warm start must not depend on a compiler.
std::string cached_compiler_identity();

// First line of `--version`.
Result<std::string> compiler_version(const Compiler& compiler);

// Flags of every kernel, the setting `extra_flags` included: part of the cache key.
std::vector<std::string> compile_flags();

// Compiles a translation unit to a shared object and returns its bytes. Fails with compiler_failed or compiler_timeout.
// `archive`: path of a static library that it is linked with; "": none.
Result<std::string> run_compiler(const Compiler& compiler, std::string_view text, const std::string& archive = {});

}  // namespace accel
