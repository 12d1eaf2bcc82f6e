#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "toolchain/disk_cache.h"
#include "toolchain_fixture.h"

namespace accel {
namespace {

class CacheTest : public ToolchainTest {
 protected:
  // A compiler that works and leaves a line in a file for each kernel: probes have warnings as errors.
  void count_compiles() {
    log_ = folder_.path() + "/starts";
    set("compiler", script("case \"$*\" in *-Werror*) ;; *) echo start >> " + log_ + ";; esac\nexec g++ \"$@\""));
  }
  int compiles() const {
    std::string text = read_file(log_).value_or("");
    return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  }

  // Rewrites the only entry.
  void damage(const std::function<void(std::string&)>& change) {
    auto found = entries();
    ASSERT_EQ(found.size(), 1u);
    std::string bytes = *read_file(found[0]);
    change(bytes);
    ASSERT_EQ(write_file(found[0], bytes), 0);
  }

  std::string log_;
};

TEST_F(CacheTest, SecondCompileIsAHit) {
  auto before = cache_info();
  bool from_cache = true;
  EXPECT_EQ(run(kernel(1), &from_cache), 1);
  EXPECT_FALSE(from_cache);
  EXPECT_EQ(run(kernel(1), &from_cache), 1);
  EXPECT_TRUE(from_cache);
  auto after = cache_info();
  EXPECT_EQ(after.hits - before.hits, 1);
  EXPECT_EQ(after.misses - before.misses, 1);
  EXPECT_EQ(after.entries, 1);
  EXPECT_GT(after.bytes, 1000);
  EXPECT_EQ(after.path, cache_);
}

TEST_F(CacheTest, FolderAndEntriesArePrivate) {
  umask(0);
  EXPECT_EQ(run(kernel(1)), 1);
  umask(022);
  struct stat info;
  ASSERT_EQ(stat(cache_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  ASSERT_EQ(stat(entries()[0].c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(CacheTest, WarmEntryNeedsNoCompiler) {
  EXPECT_EQ(run(kernel(1)), 1);
  std::string mark = folder_.path() + "/started";
  set("compiler", script("touch " + mark));
  bool from_cache = false;
  EXPECT_EQ(run(kernel(1), &from_cache), 1);
  EXPECT_TRUE(from_cache);
  EXPECT_FALSE(std::filesystem::exists(mark));
  setenv("PATH", "", 1);
  set("compiler", std::string());
  EXPECT_EQ(run(kernel(1), &from_cache), 1);
  EXPECT_TRUE(from_cache);
}

TEST_F(CacheTest, KeyCoversSourceImportsFlagsAndEnvironment) {
  KernelSource source = kernel(1);
  EXPECT_EQ(run(source), 1);
  bool from_cache = true;
  source.imports.push_back({Op::add, {DType::float64}});
  run(source, &from_cache);
  EXPECT_FALSE(from_cache);
  source.imports[0].dtypes[0] = DType::float32;
  run(source, &from_cache);
  EXPECT_FALSE(from_cache);
  set("extra_flags", std::string("-DX"));
  run(source, &from_cache);
  EXPECT_FALSE(from_cache);
  set_environment_key("another NumPy");
  run(source, &from_cache);
  EXPECT_FALSE(from_cache);
  run(source, &from_cache);
  EXPECT_TRUE(from_cache);
  set_environment_key("");
}

TEST_F(CacheTest, CompilerIdentityCountsOnlyWhenBothAreKnown) {
  auto cache = DiskCache::open(cache_);
  ASSERT_TRUE(cache.ok());
  Digest key = digest_of("key");
  ASSERT_TRUE(cache->store(key, "g++ 12", "object", 1 << 20).ok());
  EXPECT_EQ(cache->load(key, ""), "object");
  EXPECT_EQ(cache->load(key, "g++ 12"), "object");
  EXPECT_EQ(cache->load(key, "g++ 13"), std::nullopt);
  EXPECT_EQ(cache->load(key, ""), "object");  // it was not deleted
}

TEST_F(CacheTest, TruncatedEntryAtEveryLengthIsRejected) {
  auto cache = DiskCache::open(cache_);
  ASSERT_TRUE(cache.ok());
  Digest key = digest_of("key");
  ASSERT_TRUE(cache->store(key, "compiler", "object", 1 << 20).ok());
  std::string whole = *read_file(entries()[0]), path = entries()[0];
  for (size_t size = 0; size < whole.size(); size++) {
    ASSERT_EQ(write_file(path, whole.substr(0, size)), 0);
    EXPECT_EQ(cache->load(key, ""), std::nullopt) << size;
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  ASSERT_EQ(write_file(path, whole + "x"), 0);
  EXPECT_EQ(cache->load(key, ""), std::nullopt);
  EXPECT_EQ(warnings_.size(), 1u);
}

TEST_F(CacheTest, AnyFlippedByteIsNoticed) {
  auto cache = DiskCache::open(cache_);
  ASSERT_TRUE(cache.ok());
  Digest key = digest_of("key");
  ASSERT_TRUE(cache->store(key, "compiler", "object", 1 << 20).ok());
  std::string whole = *read_file(entries()[0]), path = entries()[0];
  for (size_t at = 0; at < whole.size(); at++) {
    std::string bytes = whole;
    bytes[at] ^= 0x10;
    ASSERT_EQ(write_file(path, bytes), 0);
    EXPECT_EQ(cache->load(key, ""), std::nullopt) << at;
  }
}

TEST_F(CacheTest, DamagedEntryIsRebuilt) {
  EXPECT_EQ(run(kernel(5)), 5);
  damage([](std::string& bytes) { bytes[bytes.size() / 2] ^= 1; });
  bool from_cache = true;
  EXPECT_EQ(run(kernel(5), &from_cache), 5);
  EXPECT_FALSE(from_cache);
  EXPECT_EQ(run(kernel(5), &from_cache), 5);
  EXPECT_TRUE(from_cache);
  damage([](std::string& bytes) { bytes.resize(bytes.size() / 3); });
  EXPECT_EQ(run(kernel(5), &from_cache), 5);
  EXPECT_FALSE(from_cache);
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_EQ(warnings_[0].first, Reason::cache_unusable);
}

TEST_F(CacheTest, WholeEntryThatDoesNotLoadIsRebuilt) {
  EXPECT_EQ(run(kernel(5)), 5);
  Digest key{};
  std::string name = std::filesystem::path(entries()[0]).stem();
  for (size_t i = 0; i < key.size(); i++) key[i] = static_cast<uint8_t>(std::stoi(name.substr(2 * i, 2), nullptr, 16));
  ASSERT_TRUE(DiskCache::open(cache_)
                  ->store(key, "",
                          "\x7f"
                          "ELF but no library",
                          1 << 20)
                  .ok());
  bool from_cache = true;
  EXPECT_EQ(run(kernel(5), &from_cache), 5);
  EXPECT_FALSE(from_cache);
  EXPECT_EQ(run(kernel(5), &from_cache), 5);
  EXPECT_TRUE(from_cache);
}

TEST_F(CacheTest, EntryThatIsAFolderOrFifoOrLink) {
  EXPECT_EQ(run(kernel(5)), 5);
  std::string path = entries()[0], copy = folder_.path() + "/copy";
  std::filesystem::rename(path, copy);
  std::filesystem::create_symlink(copy, path);
  EXPECT_EQ(run(kernel(5)), 5);
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(run(kernel(5)), 5);
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  EXPECT_EQ(run(kernel(5)), 5);
}

TEST_F(CacheTest, FolderOthersMayWriteToIsRefused) {
  std::filesystem::create_directory(cache_);
  chmod(cache_.c_str(), 0777);
  bool from_cache = true;
  EXPECT_EQ(run(kernel(1)), 1);
  EXPECT_EQ(run(kernel(1), &from_cache), 1);
  EXPECT_FALSE(from_cache);
  EXPECT_TRUE(entries().empty());
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_EQ(warnings_[0].first, Reason::cache_unusable);
  EXPECT_FALSE(cache_info().problem.empty());
}

TEST_F(CacheTest, ForeignFolderAndForeignEntryAreRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  EXPECT_EQ(run(kernel(1)), 1);
  // Root's own files are trusted by everybody; another user's are not, not even by root.
  ASSERT_EQ(chown(entries()[0].c_str(), 12345, 12345), 0);
  bool from_cache = true;
  EXPECT_EQ(run(kernel(1), &from_cache), 1);
  EXPECT_FALSE(from_cache);
  ASSERT_EQ(chown(cache_.c_str(), 12345, 12345), 0);
  EXPECT_EQ(run(kernel(1), &from_cache), 1);
  EXPECT_FALSE(from_cache);
  EXPECT_NE(cache_info().problem.find("another user"), std::string::npos);
}

TEST_F(CacheTest, FolderThatCannotBeMade) {
  std::ofstream(folder_.path() + "/file") << "x";
  set("cache_dir", folder_.path() + "/file/cache");
  EXPECT_EQ(run(kernel(1)), 1);
  EXPECT_EQ(run(kernel(2)), 2);
  EXPECT_EQ(warnings_.size(), 1u);
  EXPECT_FALSE(clear_cache().ok());
}

// Mounts a small file system in a child's own mount namespace and runs `body` there.
template <class Body>
int on_small_disk(const std::string& folder, const char* options, unsigned long flags, Body body) {
  pid_t pid = fork();
  if (pid == 0) {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", folder.c_str(), "tmpfs", flags, options) != 0)
      _exit(77);
    _exit(body());
  }
  int status = -1;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(CacheTest, FullDisk) {
  std::filesystem::create_directory(cache_);
  int status = on_small_disk(cache_, "size=16k,mode=0700", 0, [&] {
    bool from_cache = true;
    std::ofstream(cache_ + "/filler") << std::string(12000, 'x');
    bool good = run(kernel(1)) == 1 && run(kernel(1), &from_cache) == 1 && !from_cache && run(kernel(2)) == 2;
    return good && warnings_.size() == 1 && entries().empty() ? 0 : 1;
  });
  if (status == 77) GTEST_SKIP() << "mounting is not permitted here";
  EXPECT_EQ(status, 0);
}

TEST_F(CacheTest, NoexecDisk) {
  std::filesystem::create_directory(cache_);
  int status = on_small_disk(cache_, "size=1m,mode=0700", MS_NOEXEC | MS_NOSUID | MS_NODEV, [&] {
    bool from_cache = false;
    return run(kernel(1)) == 1 && run(kernel(1), &from_cache) == 1 && from_cache && warnings_.empty() ? 0 : 1;
  });
  if (status == 77) GTEST_SKIP() << "mounting is not permitted here";
  EXPECT_EQ(status, 0);
}

TEST_F(CacheTest, ReadOnlyDiskStillServesItsEntries) {
  std::filesystem::create_directory(cache_);
  int status = on_small_disk(cache_, "size=1m,mode=0700", 0, [&] {
    if (run(kernel(1)) != 1) return 1;
    if (mount("none", cache_.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) != 0) return 77;
    bool from_cache = false;
    if (run(kernel(1), &from_cache) != 1 || !from_cache || !warnings_.empty()) return 2;
    return run(kernel(2)) == 2 && run(kernel(3)) == 3 && warnings_.size() == 1 ? 0 : 3;
  });
  if (status == 77) GTEST_SKIP() << "mounting is not permitted here";
  EXPECT_EQ(status, 0);
}

TEST_F(CacheTest, OneCompilePerKeyAcrossProcesses) {
  count_compiles();
  std::vector<pid_t> children;
  for (int i = 0; i < 6; i++) {
    pid_t pid = fork();
    if (pid == 0) _exit(run(kernel(9)) == 9 ? 0 : 1);
    children.push_back(pid);
  }
  for (pid_t pid : children) {
    int status = -1;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(compiles(), 1);
}

TEST_F(CacheTest, OneCompilePerKeyAcrossThreads) {
  count_compiles();
  for (int64_t limit : {int64_t{0}, int64_t{1} << 20}) {  // also without a disk cache
    set("cache_size_limit", limit);
    int before = compiles();
    std::vector<std::thread> threads;
    std::atomic<int> right{0};
    for (int i = 0; i < 8; i++) threads.emplace_back([&] { right += run(kernel(9)) == 9; });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(right, 8);
    EXPECT_GE(compiles() - before, 1);
    EXPECT_LE(compiles() - before, limit == 0 ? 8 : 1);
  }
}

TEST_F(CacheTest, DifferentKernelsCompileAtTheSameTime) {
  // Each compiler waits until two have started.
  std::string mark = folder_.path() + "/mark";
  set("compiler", script("touch " + mark + ".$$\nn=0\nwhile [ $(ls " + mark +
                         ".* | wc -l) -lt 2 ]; do sleep 0.05; n=$((n+1)); [ $n -gt 400 ] && exit 1; done\nexec g++ \"$@\""));
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; i++) threads.emplace_back([i] { EXPECT_EQ(run(kernel(20 + i)), 20 + i); });
  for (auto& thread : threads) thread.join();
}

TEST_F(CacheTest, LockHeldForTooLongIsIgnored) {
  std::filesystem::create_directory(cache_);
  chmod(cache_.c_str(), 0700);
  std::vector<FileDescriptor> held;
  for (int i = 0; i < 256; i++) {
    char name[16];
    snprintf(name, sizeof name, "/lock-%02x", i);
    held.emplace_back(open((cache_ + name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_EQ(flock(held.back().get(), LOCK_EX), 0);
  }
  set("compile_timeout", 1.0);
  EXPECT_EQ(run(kernel(1)), 1);
}

TEST_F(CacheTest, ProcessKilledInACompileDoesNotBlockOthers) {
  set("compiler", script("sleep 30"));
  pid_t pid = fork();
  if (pid == 0) {
    (void)compile_kernel(kernel(3));
    _exit(0);
  }
  usleep(200000);
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  set("compiler", std::string());
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(run(kernel(3)), 3);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST_F(CacheTest, ChildForkedInACompileDoesNotWaitForIt) {
  set("compiler", script("sleep 0.6\nexec g++ \"$@\""));
  std::thread compiling([] { EXPECT_EQ(run(kernel(4)), 4); });
  usleep(200000);
  EXPECT_EQ(in_child([] {
              alarm(20);
              return run(kernel(4)) == 4 ? 0 : 1;
            }),
            0);
  compiling.join();
}

TEST_F(CacheTest, LeastRecentlyUsedEntriesGoFirst) {
  auto cache = DiskCache::open(cache_);
  ASSERT_TRUE(cache.ok());
  std::string object(1000, 'x');
  std::vector<Digest> keys;
  for (int i = 0; i < 10; i++) {
    keys.push_back(digest_of(std::to_string(i)));
    ASSERT_TRUE(cache->store(keys[i], "", object, 1 << 20).ok());
    timespec times[2] = {{1000 + i, 0}, {1000 + i, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, (cache_ + "/" + hex(keys[i]) + ".kernel").c_str(), times, 0), 0);
  }
  EXPECT_TRUE(cache->load(keys[0], ""));  // used now
  Digest last = digest_of("last");
  ASSERT_TRUE(cache->store(last, "", object, 5000).ok());
  EXPECT_LE(cache->usage().bytes, 5000);
  EXPECT_TRUE(cache->load(last, ""));
  EXPECT_TRUE(cache->load(keys[0], ""));
  EXPECT_TRUE(cache->load(keys[9], ""));
  EXPECT_FALSE(cache->load(keys[1], ""));
}

TEST_F(CacheTest, ObjectLargerThanTheCacheIsNotStored) {
  set("cache_size_limit", int64_t{100});
  EXPECT_EQ(run(kernel(1)), 1);
  EXPECT_TRUE(entries().empty());
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(CacheTest, ForgottenTemporaryFilesAreDeleted) {
  ASSERT_TRUE(DiskCache::open(cache_).ok());
  std::string path = cache_ + "/" + std::string(64, 'a') + ".kernel.1-1.tmp", other = cache_ + "/mine.txt";
  std::ofstream(path) << "x";
  std::ofstream(other) << "x";
  timespec times[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  EXPECT_TRUE(DiskCache::open(cache_)->store(digest_of("k"), "", std::string(900, 'x'), 1100).ok());
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(clear_cache().ok());
  EXPECT_TRUE(std::filesystem::exists(other));  // not ours
}

TEST_F(CacheTest, ClearCache) {
  auto compiled = compile_kernel(kernel(1));
  ASSERT_TRUE(compiled.ok());
  run(kernel(2));
  auto cleared = clear_cache();
  ASSERT_TRUE(cleared.ok());
  EXPECT_EQ(*cleared, 2);
  EXPECT_EQ(cache_info().entries, 0);
  EXPECT_EQ((*compiled)->entry()(nullptr), 1);  // a loaded kernel stays
}

TEST_F(CacheTest, FolderFollowsTheEnvironment) {
  set("cache_dir", std::string());
  setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
  EXPECT_EQ(cache_folder(), folder_.path() + "/accel");
  setenv("XDG_CACHE_HOME", "relative", 1);
  std::string home = std::getenv("HOME") ? std::getenv("HOME") : "";
  setenv("HOME", "/some/home", 1);
  EXPECT_EQ(cache_folder(), "/some/home/.cache/accel");
  unsetenv("HOME");
  EXPECT_NE(cache_folder().find("/.cache/accel"), std::string::npos);
  unsetenv("XDG_CACHE_HOME");
  if (!home.empty()) setenv("HOME", home.c_str(), 1);
}

TEST_F(CacheTest, WarningsBeforeTheSinkIsThereAreKept) {
  set_warning_sink(nullptr);
  warn_once(Reason::cache_unusable, "early", "early");
  EXPECT_TRUE(warnings_.empty());
  set_warning_sink([this](Reason reason, std::string detail) { warnings_.emplace_back(reason, detail); });
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_EQ(warnings_[0].second, "early");
}

}  // namespace
}  // namespace accel
