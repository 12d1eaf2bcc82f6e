// compile_kernel: from source text to a loaded kernel, through the disk cache.

#include <dlfcn.h>
#include <gnu/libc-version.h>

#include <chrono>
#include <mutex>
#include <optional>

#include "base/hash.h"
#include "base/settings.h"
#include "toolchain/cached_compile.h"
#include "toolchain/compiled_kernel.h"
#include "toolchain/files.h"
#include "toolchain/flights.h"
#include "toolchain/fork.h"
#include "toolchain/host/compiler.h"
#include "toolchain/host/loader.h"
#include "toolchain/host/probe.h"
#include "toolchain/machine.h"
#include "toolchain/toolchain.h"

namespace accel {
namespace {

using KernelPtr = std::shared_ptr<const CompiledKernel>;
using KernelResult = Result<KernelPtr>;
using Clock = std::chrono::steady_clock;

struct Environment {
  std::mutex mutex;
  std::string key;
};

Environment& environment() { return process_wide<Environment>(); }

std::string environment_key() {
  std::lock_guard lock(environment().mutex);
  return environment().key;
}

Digest key_of(const KernelSource& source) {
  Blake2b hash;
  hash.update_field("accel kernel, ABI " + std::to_string(accel_abi_version) + ", entry format 1");
  hash.update_field(source.text);
  for (const auto& import : source.imports) {
    hash.update_field(std::to_string(static_cast<int>(import.op)));
    for (DType dtype : import.dtypes) hash.update_field(std::to_string(static_cast<int>(dtype)));
  }
  if (!source.archive.empty()) hash.update_field(read_file(source.archive).value_or(""));
  hash.update_field(flag_table_text());
  hash.update_field(settings().extra_flags.get());
  hash.update_field(cpu_identity());
  hash.update_field(gnu_get_libc_version());
  hash.update_field(environment_key());
  return hash.finish();
}

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

KernelResult load(const Digest& key, const KernelSource& source, std::string_view object, Clock::time_point start,
                  bool from_cache) {
  dump(key, ".so", object);
  ACCEL_TRY(void* library, load_object(object));
  auto entry = reinterpret_cast<AccelKernel>(dlsym(library, "accel_kernel"));
  if (!entry) {
    dlclose(library);
    return fail(Reason::load_failed, "the shared object has no accel_kernel");
  }
  return std::make_shared<const CompiledKernel>(library, entry, source.imports, seconds_since(start), from_cache);
}

// Nothing when the cache has none that can be loaded.
std::optional<KernelPtr> load_cached(const DiskCache& cache, const Digest& key, const KernelSource& source,
                                     Clock::time_point start) {
  auto object = cache.load(key, cached_compiler_identity());
  if (!object) return std::nullopt;
  auto kernel = load(key, source, *object, start, true);
  if (kernel.ok()) return *kernel;
  cache.remove(key);
  return std::nullopt;
}

KernelResult compile_fresh(const std::optional<DiskCache>& cache, const Digest& key, const KernelSource& source,
                           Clock::time_point start) {
  ACCEL_TRY(Compiler compiler, find_compiler());
  ACCEL_TRY(std::string object, run_compiler(compiler, source.text, source.archive));
  auto kernel = load(key, source, object, start, false);
  if (kernel.ok()) store_compiled(cache, key, compiler.identity, object);
  return kernel;
}

KernelResult load_or_compile(const Digest& key, const KernelSource& source) {
  auto start = Clock::now();
  dump(key, ".cpp", source.text);
  return load_or_make<KernelPtr>(
      key, [&](const DiskCache& cache) { return load_cached(cache, key, source, start); },
      [&](const std::optional<DiskCache>& cache) { return compile_fresh(cache, key, source, start); });
}

}  // namespace

KernelResult compile_kernel(const KernelSource& source) {
  Digest key = key_of(source);
  return Flights<KernelPtr>::get(key, [&] { return load_or_compile(key, source); });
}

void set_environment_key(std::string key) {
  std::lock_guard lock(environment().mutex);
  environment().key = std::move(key);
}

}  // namespace accel
