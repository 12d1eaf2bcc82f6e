#include "toolchain/cached_compile.h"

#include <atomic>

#include "toolchain/files.h"
#include "toolchain/toolchain.h"

namespace accel {
namespace {

std::atomic<int64_t> hits{0}, misses{0};

}  // namespace

void count_lookup(bool hit) { hit ? hits++ : misses++; }

std::optional<DiskCache> open_cache() {
  if (settings().cache_size_limit.get() == 0) return std::nullopt;
  auto cache = DiskCache::open(cache_folder());
  if (cache.ok()) return std::move(cache).value();
  warn_once(cache.failure().reason, "open", cache.failure().detail);
  return std::nullopt;
}

void store_compiled(const std::optional<DiskCache>& cache, const Digest& key, std::string_view identity,
                    std::string_view object, EntryKind kind) {
  if (!cache) return;
  auto stored = cache->store(key, identity, object, settings().cache_size_limit, kind);
  if (!stored.ok()) warn_once(stored.failure().reason, "store", stored.failure().detail);
}

void dump(const Digest& key, const char* extension, std::string_view bytes) {
  const std::string& folder = settings().dump_dir.get();
  if (folder.empty()) return;
  std::string path = folder + "/" + hex(key).substr(0, 16) + extension;
  int error = make_folders(folder);
  if (error == 0) error = write_file(path, bytes);
  if (error != 0) warn_once(Reason::dump_failed, "", path + ": " + error_text(error));
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
