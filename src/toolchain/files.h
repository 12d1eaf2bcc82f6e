#pragma once
// Small pieces of the file system: owned descriptors, whole-file reads and writes, private temporary folders.

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace accel {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() { close(); }

  bool ok() const { return fd_ >= 0; }
  int get() const { return fd_; }
  void close();

 private:
  int fd_ = -1;
};

// All bytes from the current position on, or nothing on an error (see errno) or above `limit` bytes.
std::optional<std::string> read_all(int fd, size_t limit = size_t{1} << 30);
std::optional<std::string> read_file(const std::string& path);
// Returns 0 or errno.
int write_all(int fd, std::string_view bytes);
int write_file(const std::string& path, std::string_view bytes);

// mkdir -p with mode 0700 for what is created. Returns 0 or errno.
int make_folders(const std::string& path);

// "No space left on device" and the like; thread-safe.
std::string error_text(int error);

// A new folder of this user alone, removed with its files at the end. Prefers memory over disk.
class TemporaryFolder {
 public:
  // Path is empty when none could be made.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  bool ok() const { return !path_.empty(); }

 private:
  std::string path_;
};

}  // namespace accel
