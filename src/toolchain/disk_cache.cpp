#include "toolchain/disk_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "base/settings.h"
#include "codegen/kernel_abi.h"
#include "toolchain/compiled_kernel.h"
#include "toolchain/notices.h"

namespace accel {
namespace {

constexpr uint32_t format_version = 1;
constexpr char magic[8] = {'a', 'c', 'c', 'e', 'l', 'k', 'r', 'n'};
constexpr std::string_view suffixes[] = {".kernel", ".compiler"};  // by EntryKind
constexpr size_t name_size = 2 * sizeof(Digest);
constexpr int64_t touch_after = 60;       // seconds between two marks of use
constexpr int64_t leftover_after = 3600;  // seconds after which a temporary file has no owner any more

// Followed by the compiler's identity and the shared object. `digest` covers everything but itself.
struct Header {
  char magic[8];
  uint32_t format;
  uint32_t abi;
  uint64_t identity_size;
  uint64_t object_size;
  Digest key;
  Digest digest;
};

Digest header_digest(const Header& header, std::string_view rest) {
  Blake2b hash;
  hash.update(&header, offsetof(Header, digest));
  hash.update(rest);
  return hash.finish();
}

bool is_trusted(const struct stat& info) {
  return (info.st_uid == geteuid() || info.st_uid == 0) && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::string entry_name(const Digest& key, EntryKind kind) { return hex(key) + std::string(suffixes[static_cast<int>(kind)]); }

bool is_of_kind(std::string_view name, EntryKind kind) {
  const std::string_view suffix = suffixes[static_cast<int>(kind)];
  return name.size() == name_size + suffix.size() && name.ends_with(suffix);
}
bool is_kernel(std::string_view name) { return is_of_kind(name, EntryKind::kernel); }
bool is_entry(std::string_view name) { return is_kernel(name) || is_of_kind(name, EntryKind::compiler); }

bool is_leftover(std::string_view name, const struct stat& info) {
  return name.size() > name_size && name.ends_with(".tmp") && info.st_mtime + leftover_after < time(nullptr);
}

// Splits a verified entry; nothing when a byte is wrong.
struct Parsed {
  std::string_view identity;
  std::string_view object;
};

std::optional<Parsed> parse(const std::string& bytes, const Digest& key) {
  Header header;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::string_view rest = std::string_view(bytes).substr(sizeof header);
  if (std::memcmp(header.magic, magic, sizeof magic) != 0 || header.format != format_version) return std::nullopt;
  if (header.abi != static_cast<uint32_t>(accel_abi_version) || header.key != key) return std::nullopt;
  if (header.identity_size > rest.size() || header.object_size != rest.size() - header.identity_size) return std::nullopt;
  if (header_digest(header, rest) != header.digest) return std::nullopt;
  return Parsed{rest.substr(0, header.identity_size), rest.substr(header.identity_size)};
}

std::string make_entry(const Digest& key, std::string_view identity, std::string_view object) {
  Header header{};
  std::memcpy(header.magic, magic, sizeof magic);
  header.format = format_version;
  header.abi = accel_abi_version;
  header.identity_size = identity.size();
  header.object_size = object.size();
  header.key = key;
  std::string rest = std::string(identity) + std::string(object);
  header.digest = header_digest(header, rest);
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + rest;
}

struct FileInfo {
  std::string name;
  int64_t bytes;
  timespec used;
  bool entry;
};

// Entries and forgotten temporary files of a folder.
std::vector<FileInfo> scan(int fd) {
  std::vector<FileInfo> files;
  int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* folder = copy < 0 ? nullptr : fdopendir(copy);
  if (!folder) {
    if (copy >= 0) close(copy);
    return files;
  }
  while (dirent* item = readdir(folder)) {
    struct stat info;
    if (item->d_name[0] == '.' || fstatat(fd, item->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    bool entry = is_entry(item->d_name);
    if (!entry && !is_leftover(item->d_name, info)) continue;
    files.push_back({item->d_name, info.st_size, info.st_mtim, entry});
  }
  closedir(folder);
  return files;
}

void touch(int fd) {
  struct stat info;
  if (fstat(fd, &info) == 0 && info.st_mtime + touch_after < time(nullptr)) (void)futimens(fd, nullptr);
}

Failure unusable(const std::string& path, const std::string& why) { return fail(Reason::cache_unusable, path + ": " + why); }

// Writes the bytes as a new file under a temporary name, then gives it its name.
int write_renamed(int folder, const std::string& name, std::string_view bytes) {
  static std::atomic<int> counter{0};
  std::string temporary = name + "." + std::to_string(getpid()) + "-" + std::to_string(counter++) + ".tmp";
  FileDescriptor fd(openat(folder, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.ok()) return errno;
  int error = write_all(fd.get(), bytes);
  if (error == 0 && renameat(folder, temporary.c_str(), folder, name.c_str()) != 0) error = errno;
  if (error != 0) unlinkat(folder, temporary.c_str(), 0);
  return error;
}

// Looking at every entry is slow in a large cache, so this process does it at its first store and then whenever its own
// stores may have filled a 16th of the cache.
bool is_scan_due(size_t stored, int64_t size_limit) {
  static std::atomic<int64_t> budget{0};
  int64_t left = budget.fetch_sub(static_cast<int64_t>(stored)) - static_cast<int64_t>(stored);
  if (left > 0 && left <= size_limit / 16) return false;
  budget.store(size_limit / 16);
  return true;
}

}  // namespace

CacheLock::~CacheLock() {
  // Explicit, because a child forked meanwhile shares the lock and may live on.
  if (file_.ok()) flock(file_.get(), LOCK_UN);
}

Result<DiskCache> DiskCache::open(const std::string& folder) {
  if (folder.empty()) return fail(Reason::cache_unusable, "there is no home folder");
  FileDescriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.ok() && errno == ENOENT) {
    if (int error = make_folders(folder)) return unusable(folder, error_text(error));
    fd = FileDescriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  struct stat info;
  if (!fd.ok() || fstat(fd.get(), &info) != 0) return unusable(folder, error_text(errno));
  if (info.st_uid != geteuid() && info.st_uid != 0) return unusable(folder, "it belongs to another user");
  if (!is_trusted(info)) return unusable(folder, "other users may write to it (chmod 700 mends that)");
  return DiskCache(folder, std::move(fd));
}

std::optional<std::string> DiskCache::load(const Digest& key, std::string_view compiler_identity, EntryKind kind) const {
  std::string name = entry_name(key, kind);
  FileDescriptor fd(openat(fd_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd.ok()) {
    if (errno != ENOENT) warn_once(Reason::cache_unusable, "read", folder_ + "/" + name + ": " + error_text(errno));
    return std::nullopt;
  }
  struct stat info;
  bool trusted = fstat(fd.get(), &info) == 0 && S_ISREG(info.st_mode) && is_trusted(info);
  auto bytes = trusted ? read_all(fd.get()) : std::nullopt;
  auto parsed = bytes ? parse(*bytes, key) : std::nullopt;
  if (!parsed) {
    warn_once(Reason::cache_unusable, "damaged", folder_ + "/" + name + ": the entry is damaged; it is compiled again");
    remove(key, kind);
    return std::nullopt;
  }
  if (!compiler_identity.empty() && parsed->identity != compiler_identity) return std::nullopt;
  touch(fd.get());
  return std::string(parsed->object);
}

Status DiskCache::store(const Digest& key, std::string_view compiler_identity, std::string_view object, int64_t size_limit,
                        EntryKind kind) const {
  std::string bytes = make_entry(key, compiler_identity, object);
  if (static_cast<int64_t>(bytes.size()) > size_limit) return Unit{};
  if (int error = write_renamed(fd_.get(), entry_name(key, kind), bytes)) return unusable(folder_, error_text(error));
  if (is_scan_due(bytes.size(), size_limit)) evict(size_limit);
  return Unit{};
}

void DiskCache::evict(int64_t size_limit) const {
  auto files = scan(fd_.get());
  int64_t total = 0;
  for (auto& file : files) total += file.bytes;
  std::sort(files.begin(), files.end(), [](const FileInfo& a, const FileInfo& b) {
    if (a.entry != b.entry) return b.entry;  // forgotten temporary files first
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (auto& file : files) {
    if (file.entry && total <= size_limit) break;
    if (unlinkat(fd_.get(), file.name.c_str(), 0) == 0) total -= file.bytes;
  }
}

void DiskCache::remove(const Digest& key, EntryKind kind) const { unlinkat(fd_.get(), entry_name(key, kind).c_str(), 0); }

CacheLock DiskCache::lock(const Digest& key, double timeout) const {
  // A fixed set of lock files: none ever has to be deleted, and two keys rarely share one.
  std::string name = "lock-" + hex(key).substr(0, 2);
  FileDescriptor fd(openat(fd_.get(), name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.ok()) return CacheLock();
  auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(std::clamp(timeout, 0.0, 1e6));
  useconds_t pause_us = 500;
  while (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    bool busy = errno == EWOULDBLOCK || errno == EINTR;
    if (!busy || std::chrono::steady_clock::now() >= deadline || is_interrupted()) return CacheLock();
    usleep(pause_us);
    pause_us = std::min<useconds_t>(pause_us * 2, 10000);
  }
  return CacheLock(std::move(fd));
}

CacheUsage DiskCache::usage() const {
  CacheUsage usage;
  for (const auto& file : scan(fd_.get())) {
    usage.entries += is_kernel(file.name);
    usage.bytes += file.bytes;
  }
  return usage;
}

int64_t DiskCache::clear() const {
  int64_t count = 0;
  for (const auto& file : scan(fd_.get()))
    if (unlinkat(fd_.get(), file.name.c_str(), 0) == 0) count += is_kernel(file.name);
  return count;
}

std::string cache_folder() {
  if (const std::string& folder = settings().cache_dir.get(); !folder.empty()) return folder;
  if (const char* base = std::getenv("XDG_CACHE_HOME"); base && base[0] == '/') return std::string(base) + "/accel";
  if (const char* home = std::getenv("HOME"); home && home[0] == '/') return std::string(home) + "/.cache/accel";
  passwd entry, *found = nullptr;
  char buffer[4096];
  if (getpwuid_r(geteuid(), &entry, buffer, sizeof buffer, &found) != 0 || !found || found->pw_dir[0] != '/') return "";
  return std::string(found->pw_dir) + "/.cache/accel";
}

}  // namespace accel
