#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "base/settings.h"
#include "runtime/result_pool.h"
#include "sanitizers.h"
#include "toolchain/files.h"

namespace accel {
namespace {

constexpr size_t mib = size_t{1} << 20;

class PoolTest : public ::testing::Test {
 protected:
  void SetUp() override {
    settings().result_pool_bytes.set(64 << 20);
    pool_trim();
  }
  void TearDown() override {
    pool_trim();
    settings().result_pool_bytes.set(-1);
    EXPECT_EQ(pool_stats().live_blocks, 0);
  }
};

TEST_F(PoolTest, SmallBlocksComeFromMalloc) {
  auto before = pool_stats();
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{1000}, pool_block_bytes - 1}) {
    void* memory = pool_allocate(bytes);
    ASSERT_NE(memory, nullptr);
    memset(memory, 1, bytes);
    pool_release(memory, bytes);
  }
  EXPECT_EQ(pool_stats().mapped, before.mapped);
  EXPECT_EQ(pool_stats().kept_blocks, 0);
}

TEST_F(PoolTest, LargeBlockIsReused) {
  auto* first = static_cast<char*>(pool_allocate(8 * mib));
  ASSERT_NE(first, nullptr);
  memset(first, 1, 8 * mib);
  EXPECT_EQ(pool_stats().live_blocks, 1);
  pool_release(first, 8 * mib);
  EXPECT_EQ(pool_stats().kept_blocks, 1);
  auto before = pool_stats();
  void* second = pool_allocate(8 * mib - 100);
  EXPECT_EQ(second, first);
  EXPECT_EQ(pool_stats().reused, before.reused + 1);
  void* third = pool_allocate(8 * mib);
  EXPECT_NE(third, second);
  pool_release(second, 0);
  pool_release(third, 0);
}

TEST_F(PoolTest, BlocksStartAtLinesOfDifferentPlacesInAPage) {
  std::set<uintptr_t> places;
  std::vector<void*> blocks;
  for (size_t bytes : {pool_block_bytes, 3 * mib, 8 * mib, 8 * mib + 1}) {
    auto* memory = static_cast<char*>(pool_allocate(bytes));
    ASSERT_NE(memory, nullptr);
    memset(memory, 1, bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
    places.insert(reinterpret_cast<uintptr_t>(memory) % 4096);
    blocks.push_back(memory);
  }
  EXPECT_EQ(places.size(), 3u);
  for (void* block : blocks) pool_release(block, 0);
}

// Pages of which the system may take what is in them.
long free_pages_kb() {
  FILE* file = fopen("/proc/self/smaps_rollup", "r");
  long total = -1;
  for (char line[256]; file && fgets(line, sizeof line, file);) sscanf(line, "LazyFree: %ld", &total);
  if (file) fclose(file);
  return total;
}

TEST_F(PoolTest, TheSystemMayTakeAllButTheBlocksReleasedLast) {
  auto policy = read_file("/sys/kernel/mm/transparent_hugepage/enabled");
  if (!policy || policy->find("[never]") != policy->npos) GTEST_SKIP() << "this system has no huge pages";
  long before = free_pages_kb();
  if (before < 0) GTEST_SKIP() << "this system does not count pages that it may take";
  std::vector<void*> blocks;
  for (int k = 0; k < 4; k++) blocks.push_back(memset(pool_allocate(8 * mib), 1, 8 * mib));
  for (int k = 0; k < 2; k++) pool_release(blocks[static_cast<size_t>(k)], 0);
  EXPECT_EQ(free_pages_kb(), before);
  for (int k = 2; k < 4; k++) pool_release(blocks[static_cast<size_t>(k)], 0);
  EXPECT_GT(free_pages_kb(), before);
  EXPECT_LE(free_pages_kb(), before + 16 * 1024);
}

TEST_F(PoolTest, MuchSmallerRequestsGetABlockOfTheirOwn) {
  void* large = pool_allocate(32 * mib);
  pool_release(large, 32 * mib);
  void* small = pool_allocate(2 * mib);
  EXPECT_NE(small, large);
  EXPECT_EQ(pool_stats().kept_blocks, 1);
  pool_release(small, 2 * mib);
}

TEST_F(PoolTest, BestFitIsTaken) {
  void* a = pool_allocate(20 * mib);
  void* b = pool_allocate(19 * mib);
  pool_release(b, 0);
  pool_release(a, 0);
  EXPECT_EQ(pool_allocate(19 * mib), b);
  pool_release(b, 0);
}

TEST_F(PoolTest, BoundedAndOldestGoesFirst) {
  std::vector<void*> blocks;
  for (size_t i = 0; i < 10; i++) blocks.push_back(pool_allocate((8 + i) * mib));
  for (void* block : blocks) pool_release(block, 0);
  auto stats = pool_stats();
  EXPECT_LE(stats.kept_bytes, 64 << 20);
  EXPECT_GT(stats.kept_blocks, 2);
  EXPECT_EQ(pool_allocate(17 * mib), blocks[9]);
  pool_release(blocks[9], 0);
  void* huge = pool_allocate(65 * mib);
  pool_release(huge, 0);
  EXPECT_LE(pool_stats().kept_bytes, 64 << 20);
}

TEST_F(PoolTest, LimitOfZeroKeepsNothing) {
  settings().result_pool_bytes.set(0);
  pool_release(pool_allocate(4 * mib), 4 * mib);
  EXPECT_EQ(pool_stats().kept_blocks, 0);
}

TEST_F(PoolTest, AutomaticLimit) {
  settings().result_pool_bytes.set(-1);
  EXPECT_GT(pool_limit(), 0);
  EXPECT_LE(pool_limit(), int64_t{1} << 30);
}

TEST_F(PoolTest, ZeroedMemoryIsZeroAlsoAfterReuse) {
  auto* dirty = static_cast<unsigned char*>(pool_allocate(4 * mib));
  memset(dirty, 0xff, 4 * mib);
  pool_release(dirty, 4 * mib);
  for (size_t bytes : {size_t{100}, 4 * mib, 5 * mib}) {
    auto* memory = static_cast<unsigned char*>(pool_allocate_zeroed(bytes));
    ASSERT_NE(memory, nullptr);
    for (size_t i = 0; i < bytes; i++) ASSERT_EQ(memory[i], 0);
    pool_release(memory, bytes);
  }
}

TEST_F(PoolTest, ReallocateKeepsTheContent) {
  auto* memory = static_cast<char*>(pool_reallocate(nullptr, 100));
  size_t size = 100;
  memset(memory, 7, size);
  for (size_t next : {size_t{50}, size_t{1000}, 2 * mib, 9 * mib, 8 * mib, 3 * mib, size_t{10}, 30 * mib}) {
    memory = static_cast<char*>(pool_reallocate(memory, next));
    ASSERT_NE(memory, nullptr);
    for (size_t i = 0; i < std::min(size, next); i++) ASSERT_EQ(memory[i], 7);
    memset(memory, 7, next);
    size = next;
  }
  pool_release(memory, size);
}

TEST_F(PoolTest, AWrongSizeAtReleaseDoesNoHarm) {
  auto* large = static_cast<char*>(pool_allocate(8 * mib));
  void* small = pool_allocate(100);
  pool_release(large, 1);
  pool_release(small, 8 * mib);
  auto* again = static_cast<char*>(pool_allocate(8 * mib));
  again[8 * mib - 1] = 1;
  pool_release(again, 8 * mib);
}

TEST_F(PoolTest, PageAlignedMallocMemoryIsToldApart) {
  void* memory = aligned_alloc(4096, 4096);
  pool_release(memory, 4096);
  EXPECT_EQ(pool_stats().kept_blocks, 0);
}

TEST_F(PoolTest, ImpossibleSizesGiveNull) {
  EXPECT_EQ(pool_allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(pool_allocate(SIZE_MAX / 2), nullptr);
  EXPECT_EQ(pool_allocate_zeroed(SIZE_MAX / 2), nullptr);
}

TEST_F(PoolTest, KeptBlocksGoWhenMemoryRunsOut) {
  if (sanitizer_forks_badly) GTEST_SKIP() << "the sanitizer needs the address space that this test takes away";
  pid_t pid = fork();
  if (pid == 0) {
    settings().result_pool_bytes.set(int64_t{1} << 40);
    for (int i = 0; i < 4; i++) pool_release(pool_allocate((400 + 100 * i) * mib), 0);
    // Room for one more block only if the kept ones go.
    rlimit limit{};
    long pages = 0;
    FILE* file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld", &pages) != 1) _exit(3);
    limit.rlim_cur = limit.rlim_max = static_cast<rlim_t>(pages) * 4096 + 64 * mib;
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(4);
    void* memory = pool_allocate(1500 * mib);
    _exit(memory && pool_stats().kept_blocks == 0 ? 0 : 1);
  }
  int status = -1;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
}

// Every live block carries its own mark at both ends and in the middle; a block handed out twice would lose it.
TEST_F(PoolTest, NoBlockIsHandedOutTwice) {
  std::atomic<int> damaged{0};
  auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    struct Held {
      char* memory;
      size_t bytes;
      char mark;
    };
    std::vector<Held> held;
    auto check = [&](const Held& h) {
      damaged += h.memory[0] != h.mark || h.memory[h.bytes / 2] != h.mark || h.memory[h.bytes - 1] != h.mark;
    };
    for (int i = 0; i < 3000; i++) {
      if (held.size() < 6 && random() % 2) {
        Held h{nullptr, mib - 1000 + random() % (3 * mib), static_cast<char>(random())};
        h.memory = static_cast<char*>(pool_allocate(h.bytes));
        h.memory[0] = h.memory[h.bytes / 2] = h.memory[h.bytes - 1] = h.mark;
        held.push_back(h);
      } else if (!held.empty()) {
        size_t at = random() % held.size();
        check(held[at]);
        pool_release(held[at].memory, held[at].bytes);
        held.erase(held.begin() + static_cast<long>(at));
      }
      if (i % 500 == 0) pool_trim();
    }
    for (auto& h : held) check(h), pool_release(h.memory, h.bytes);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 6; i++) threads.emplace_back(work, i);
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(damaged, 0);
}

TEST_F(PoolTest, SurvivesForkWhileOtherThreadsAllocate) {
  if (sanitizer_forks_badly) GTEST_SKIP() << "the sanitizer does not survive fork";
  auto* mine = static_cast<char*>(pool_allocate(4 * mib));
  memset(mine, 3, 4 * mib);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; i++)
    threads.emplace_back([&] {
      while (!stop) pool_release(pool_allocate(2 * mib), 0);
    });
  for (int i = 0; i < 50; i++) {
    pid_t pid = fork();
    if (pid == 0) {
      alarm(10);
      auto* memory = static_cast<char*>(pool_allocate(4 * mib));
      memset(memory, 9, 4 * mib);
      bool good = memory != mine && mine[0] == 3 && mine[4 * mib - 1] == 3;
      pool_release(memory, 0);
      pool_release(mine, 0);
      _exit(good ? 0 : 1);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(mine[0], 3);
  pool_release(mine, 0);
}

}  // namespace
}  // namespace accel
