#pragma once
// The folder of compiled kernels and of what is known of compilers. One file per key: header, digest, bytes.
//
// Everything is optional: a folder that is missing, foreign, read-only, full or damaged costs a recompile and one warning.
// Files are written under another name and renamed, so readers see whole entries only, and every entry's digest is
// checked before it is used. Safe to use from several threads and processes at once.

#include <optional>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"
#include "toolchain/files.h"

namespace accel {

// Held while one process compiles a key. Released at the end of its life, also when the process dies.
class CacheLock {
 public:
  CacheLock() = default;
  explicit CacheLock(FileDescriptor file) : file_(std::move(file)) {}
  CacheLock(CacheLock&&) = default;
  CacheLock& operator=(CacheLock&&) = default;
  ~CacheLock();

 private:
  FileDescriptor file_;
};

struct CacheUsage {
  int64_t entries = 0;  // kernels
  int64_t bytes = 0;
};

enum class EntryKind { kernel, compiler };

class DiskCache {
 public:
  // Opens `folder`, and makes it (0700) when it is missing. Fails with cache_unusable unless it belongs to this user (or to
  // root) and no other user may write to it.
  static Result<DiskCache> open(const std::string& folder);

  // The entry's bytes, those of a shared object, or nothing. A damaged entry is deleted. When both compiler identities are
  // known and differ, the entry does not count. A hit marks the entry as recently used.
  std::optional<std::string> load(const Digest& key, std::string_view compiler_identity,
                                  EntryKind kind = EntryKind::kernel) const;

  // Stores an entry, then deletes the entries unused for longest until at most `size_limit` bytes are left.
  Status store(const Digest& key, std::string_view compiler_identity, std::string_view object, int64_t size_limit,
               EntryKind kind = EntryKind::kernel) const;

  void remove(const Digest& key, EntryKind kind = EntryKind::kernel) const;

  // Waits at most `timeout` seconds for the lock of `key`. After that, and where the folder cannot be written, returns without
  // the lock.
  CacheLock lock(const Digest& key, double timeout) const;

  CacheUsage usage() const;
  // Deletes all entries; returns how many kernels.
  int64_t clear() const;

 private:
  DiskCache(std::string folder, FileDescriptor fd) : folder_(std::move(folder)), fd_(std::move(fd)) {}
  void evict(int64_t size_limit) const;

  std::string folder_;
  FileDescriptor fd_;
};

// The folder that the settings and environment name, or "" when there is no home.
std::string cache_folder();

}  // namespace accel
