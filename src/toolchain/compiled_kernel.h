#pragma once
// CompiledKernel: a loaded shared object with its entry point. Product of the toolchain.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/kernel_abi.h"
#include "codegen/kernel_source.h"

namespace accel {

class CompiledKernel {
 public:
  CompiledKernel(void* library, AccelKernel entry, std::vector<LoopImport> imports, double seconds, bool from_cache);
  ~CompiledKernel();  // closes the library
  CompiledKernel(const CompiledKernel&) = delete;
  CompiledKernel& operator=(const CompiledKernel&) = delete;

  AccelKernel entry() const { return entry_; }
  const std::vector<LoopImport>& imports() const { return imports_; }
  double compile_seconds() const { return seconds_; }
  bool from_cache() const { return from_cache_; }

 private:
  void* library_;
  AccelKernel entry_;
  std::vector<LoopImport> imports_;
  double seconds_;
  bool from_cache_;
};

// Compiles `source` with the host compiler, or loads it from the disk cache. Safe to call from any thread.
Result<std::shared_ptr<const CompiledKernel>> compile_kernel(const KernelSource& source);

// Asked a few dozen times per second while a thread waits for a process or for another thread: whether it is not to wait any
// more (Ctrl-C). Null switches it off.
void set_process_poll(bool (*poll)());
bool is_interrupted();

}  // namespace accel
