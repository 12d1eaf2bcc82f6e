#pragma once
// The steps that every compile has in common: the disk cache, which other processes may fill, and the folder for dumps.

#include <optional>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"
#include "base/settings.h"
#include "toolchain/disk_cache.h"

namespace accel {

// The disk cache if it is switched on and usable; warns once when it is not usable.
std::optional<DiskCache> open_cache();

// Stores a compiled object; warns once when that does not work. Without a cache nothing is done.
void store_compiled(const std::optional<DiskCache>& cache, const Digest& key, std::string_view identity,
                    std::string_view object, EntryKind kind = EntryKind::kernel);

// Writes a file into the folder of the setting `dump_dir`, if there is one.
void dump(const Digest& key, const char* extension, std::string_view bytes);

// Counts a compile that the disk cache answered, or did not.
void count_lookup(bool hit);

// A product from the disk cache, or a new one. `load(cache)`: the product of the entry, or something false. `make(cache)`: a
// Result<Product>, which it stores in `cache`, an optional. By one thread of this process at a time for each key.
template <class Product, class Load, class Make>
Result<Product> load_or_make(const Digest& key, Load load, Make make) {
  auto cache = open_cache();
  CacheLock lock;
  if (cache) {
    if (auto product = load(*cache)) return count_lookup(true), *product;
    lock = cache->lock(key, settings().compile_timeout);
    // Another process may have stored it while this one waited.
    if (auto product = load(*cache)) return count_lookup(true), *product;
    count_lookup(false);
  }
  return make(cache);
}

}  // namespace accel
