#pragma once
// One run of a compiler.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "toolchain/host/compiler.h"
#include "toolchain/host/process.h"

namespace accel {

struct Invocation {
  std::optional<std::string> object;  // the bytes of the shared object
  Failure failure;                    // why there is none
  bool is_refused = false;            // the compiler itself said so: it ran to its end
};

// Compiles a translation unit to a shared object. Fails when the compiler cannot be asked.
Result<Invocation> invoke(const Compiler& compiler, const std::vector<std::string>& flags, std::string_view text,
                          const std::string& archive = {});

// First line of `--version`.
Result<std::string> compiler_version(const Compiler& compiler);

}  // namespace accel
