#include "toolchain/compiled_kernel.h"

#include <dlfcn.h>

namespace accel {

CompiledKernel::CompiledKernel(void* library, AccelKernel entry, std::vector<LoopImport> imports, double seconds,
                               bool from_cache)
    : library_(library), entry_(entry), imports_(std::move(imports)), seconds_(seconds), from_cache_(from_cache) {}

CompiledKernel::~CompiledKernel() { dlclose(library_); }

}  // namespace accel
