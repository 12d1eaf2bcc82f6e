#include "toolchain/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <vector>

namespace accel {
namespace {

constexpr unsigned long long enough_space = 16 << 20;

bool has_space(const std::string& folder) {
  struct statvfs info;
  return statvfs(folder.c_str(), &info) == 0 && 1ull * info.f_bavail * info.f_frsize >= enough_space;
}

std::vector<std::string> temporary_roots() {
  std::vector<std::string> roots{"/dev/shm"};
  if (const char* folder = std::getenv("TMPDIR"); folder && folder[0] == '/') roots.push_back(folder);
  roots.insert(roots.end(), {"/tmp", "/var/tmp"});
  return roots;
}

}  // namespace

void FileDescriptor::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

std::optional<std::string> read_all(int fd, size_t limit) {
  std::string bytes;
  struct stat info;
  if (fstat(fd, &info) == 0 && info.st_size > 0 && static_cast<size_t>(info.st_size) <= limit)
    bytes.reserve(static_cast<size_t>(info.st_size) + 1);
  for (;;) {
    size_t used = bytes.size(), room = std::max(bytes.capacity() - used, size_t{4096});
    bytes.resize(used + room);
    ssize_t count = read(fd, bytes.data() + used, room);
    bytes.resize(used + (count > 0 ? static_cast<size_t>(count) : 0));
    if (count == 0) return bytes;
    if (count < 0 && errno != EINTR) return std::nullopt;
    if (bytes.size() > limit) {
      errno = EFBIG;
      return std::nullopt;
    }
  }
}

std::optional<std::string> read_file(const std::string& path) {
  FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.ok()) return std::nullopt;
  return read_all(fd.get());
}

int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t count = write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return errno;
    if (count == 0) return EIO;
    if (count > 0) bytes.remove_prefix(static_cast<size_t>(count));
  }
  return 0;
}

int write_file(const std::string& path, std::string_view bytes) {
  FileDescriptor fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  return fd.ok() ? write_all(fd.get(), bytes) : errno;
}

int make_folders(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0) return 0;
  if (errno != ENOENT) return errno == EEXIST ? 0 : errno;
  size_t slash = path.find_last_of('/');
  if (slash == path.npos || slash == 0) return ENOENT;
  if (int error = make_folders(path.substr(0, slash))) return error;
  return mkdir(path.c_str(), 0700) == 0 || errno == EEXIST ? 0 : errno;
}

std::string error_text(int error) { return std::generic_category().message(error); }

TemporaryFolder::TemporaryFolder() {
  for (bool need_space : {true, false})
    for (const auto& root : temporary_roots()) {
      if (need_space && !has_space(root)) continue;
      std::string name = root + "/accel-XXXXXX";
      if (!mkdtemp(name.data())) continue;
      path_ = name;
      return;
    }
}

TemporaryFolder::~TemporaryFolder() {
  if (!ok()) return;
  if (DIR* folder = opendir(path_.c_str())) {
    while (dirent* entry = readdir(folder)) unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
  }
  rmdir(path_.c_str());
}

}  // namespace accel
