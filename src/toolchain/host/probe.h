#pragma once
// What a compiler understands of the flags of kernels (flags.inc), found out once and then taken from the disk cache.

#include <string>
#include <vector>

#include "base/result.h"
#include "toolchain/host/compiler.h"

namespace accel {

// A flag that is left out, and what that costs.
struct AbsentFlag {
  std::string text, purpose;
};

struct Probe {
  std::string family;   // of the table: "gnu" or "clang"
  std::string version;  // as the compiler itself has it (__VERSION__)
  std::vector<std::string> flags;
  std::vector<AbsentFlag> absent;
};

// Compiles one small file when the compiler understands all flags, several when not, none when the process or the disk cache
// knows the answer. Fails as run_compiler() does, and with compiler_failed when a flag that exact results need is not
// understood.
Result<Probe> probe(const Compiler& compiler);

// Of the flags of the table, for the keys of kernels: starts nothing and does not depend on the compiler.
const std::string& flag_table_text();

}  // namespace accel
