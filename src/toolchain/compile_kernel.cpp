// compile_kernel: from source text to a loaded kernel, through the disk cache.

#include <dlfcn.h>
#include <gnu/libc-version.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>

#include "base/hash.h"
#include "base/settings.h"
#include "toolchain/compiled_kernel.h"
#include "toolchain/compiler.h"
#include "toolchain/disk_cache.h"
#include "toolchain/files.h"
#include "toolchain/fork.h"
#include "toolchain/loader.h"
#include "toolchain/machine.h"
#include "toolchain/toolchain.h"

namespace accel {
namespace {

using KernelResult = Result<std::shared_ptr<const CompiledKernel>>;
using Clock = std::chrono::steady_clock;

// A compile that one thread does and others wait for.
struct Flight {
  std::condition_variable landed;
  std::optional<KernelResult> result;
};

struct State {
  std::mutex mutex;
  std::map<Digest, std::shared_ptr<Flight>> flights;
  std::string environment_key;
};

State& state();

// In the child of a fork: the threads that would complete these flights do not exist. The flights are leaked, not destroyed, as
// threads of the parent wait on them.
void forget_flights() {
  auto* abandoned = new auto(std::move(state().flights));
  (void)abandoned;
  state().flights.clear();
}

State& state() { return process_wide<State>(forget_flights); }

std::atomic<int64_t> hits{0}, misses{0};

std::string environment_key() {
  std::lock_guard lock(state().mutex);
  return state().environment_key;
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
  for (const auto& flag : compile_flags()) hash.update_field(flag);
  hash.update_field(cpu_identity());
  hash.update_field(gnu_get_libc_version());
  hash.update_field(environment_key());
  return hash.finish();
}

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void dump(const Digest& key, const char* extension, std::string_view bytes) {
  const std::string& folder = settings().dump_dir.get();
  if (folder.empty()) return;
  std::string path = folder + "/" + hex(key).substr(0, 16) + extension;
  int error = make_folders(folder);
  if (error == 0) error = write_file(path, bytes);
  if (error != 0) warn_once(Reason::dump_failed, "", path + ": " + error_text(error));
}

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

// The disk cache if it is switched on and usable; warns once when it is not usable.
std::optional<DiskCache> open_cache() {
  if (settings().cache_size_limit.get() == 0) return std::nullopt;
  auto cache = DiskCache::open(cache_folder());
  if (cache.ok()) return std::move(cache).value();
  warn_once(cache.failure().reason, "open", cache.failure().detail);
  return std::nullopt;
}

std::shared_ptr<const CompiledKernel> load_cached(const DiskCache& cache, const Digest& key, const KernelSource& source,
                                                  Clock::time_point start) {
  auto object = cache.load(key, cached_compiler_identity());
  if (!object) return nullptr;
  auto kernel = load(key, source, *object, start, true);
  if (kernel.ok()) return *kernel;
  cache.remove(key);
  return nullptr;
}

KernelResult compile_fresh(const std::optional<DiskCache>& cache, const Digest& key, const KernelSource& source,
                           Clock::time_point start) {
  ACCEL_TRY(Compiler compiler, find_compiler());
  ACCEL_TRY(std::string object, run_compiler(compiler, source.text, source.archive));
  auto kernel = load(key, source, object, start, false);
  if (!kernel.ok() || !cache) return kernel;
  auto stored = cache->store(key, compiler.identity, object, settings().cache_size_limit);
  if (!stored.ok()) warn_once(stored.failure().reason, "store", stored.failure().detail);
  return kernel;
}

// By one thread of this process at a time for each key.
KernelResult load_or_compile(const Digest& key, const KernelSource& source) {
  auto start = Clock::now();
  dump(key, ".cpp", source.text);
  auto cache = open_cache();
  CacheLock lock;
  if (cache) {
    if (auto kernel = load_cached(*cache, key, source, start)) return ++hits, kernel;
    lock = cache->lock(key, settings().compile_timeout);
    // Another process may have stored it while this one waited.
    if (auto kernel = load_cached(*cache, key, source, start)) return ++hits, kernel;
    misses++;
  }
  return compile_fresh(cache, key, source, start);
}

// Out of memory is the only exception there can be; others wait for this flight, so it must land.
KernelResult guarded_load_or_compile(const Digest& key, const KernelSource& source) {
  try {
    return load_or_compile(key, source);
  } catch (const std::exception& error) {
    return fail(Reason::internal_error, error.what());
  }
}

// The flight of `key`; `first`: whether the caller must do the work.
std::shared_ptr<Flight> join_flight(const Digest& key, bool& first) {
  std::lock_guard lock(state().mutex);
  auto [at, inserted] = state().flights.try_emplace(key);
  if (inserted) at->second = std::make_shared<Flight>();
  first = inserted;
  return at->second;
}

// What another thread makes; nullopt: it was interrupted.
std::optional<KernelResult> wait_for(Flight& flight) {
  while (true) {
    {
      std::unique_lock lock(state().mutex);
      flight.landed.wait_for(lock, std::chrono::milliseconds(30), [&] { return flight.result.has_value(); });
      if (flight.result && !flight.result->ok() && flight.result->failure().reason == Reason::interrupted) return std::nullopt;
      if (flight.result) return flight.result;
    }
    if (is_interrupted()) return fail(Reason::interrupted, {});
  }
}

void land(const Digest& key, Flight& flight, KernelResult result) {
  {
    std::lock_guard lock(state().mutex);
    flight.result = std::move(result);
    state().flights.erase(key);
  }
  flight.landed.notify_all();
}

}  // namespace

Result<std::shared_ptr<const CompiledKernel>> compile_kernel(const KernelSource& source) {
  Digest key = key_of(source);
  bool first = false;
  auto flight = join_flight(key, first);
  if (!first) {
    if (auto result = wait_for(*flight)) return *result;
    return compile_kernel(source);  // the thread that did it was interrupted
  }
  auto result = guarded_load_or_compile(key, source);
  if (!result.ok() && result.failure().reason != Reason::interrupted)
    warn_once(result.failure().reason, "", result.failure().detail);
  land(key, *flight, result);
  return result;
}

void set_environment_key(std::string key) {
  std::lock_guard lock(state().mutex);
  state().environment_key = std::move(key);
}

CacheInfo cache_info() {
  CacheInfo info;
  info.path = cache_folder();
  info.hits = hits;
  info.misses = misses;
  auto cache = DiskCache::open(info.path);
  if (!cache.ok()) {
    info.problem = cache.failure().detail;
    return info;
  }
  auto usage = cache->usage();
  info.entries = usage.entries;
  info.bytes = usage.bytes;
  return info;
}

Result<int64_t> clear_cache() {
  ACCEL_TRY(DiskCache cache, DiskCache::open(cache_folder()));
  return cache.clear();
}

}  // namespace accel
