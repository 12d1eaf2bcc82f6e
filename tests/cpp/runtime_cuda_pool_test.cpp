#include <algorithm>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "cuda_fixture.h"

namespace accel {
namespace {

constexpr int64_t mebibyte = int64_t{1} << 20;

using DevicePoolTest = CudaTest;

TEST_F(DevicePoolTest, BlocksAreAlignedAndReusedAtOnce) {
  for (int64_t bytes : {int64_t{0}, int64_t{1}, int64_t{256}, int64_t{70000}, 3 * mebibyte, 40 * mebibyte}) {
    char* memory = allocate(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 256, 0u);
    device_->release(memory);
    long before = calls("cuMemAlloc_v2");
    char* again = allocate(bytes);
    EXPECT_EQ(again, memory) << bytes;
    EXPECT_EQ(calls("cuMemAlloc_v2"), before);
    device_->release(again);
  }
}

TEST_F(DevicePoolTest, ManySmallBlocksShareASlab) {
  long before = calls("cuMemAlloc_v2");
  std::set<char*> blocks;
  for (int i = 0; i < 1000; ++i) blocks.insert(allocate(1000));
  EXPECT_EQ(blocks.size(), 1000u);
  EXPECT_EQ(calls("cuMemAlloc_v2") - before, 1);
  EXPECT_EQ(device_->memory_info().used, 1000 * 1024);
  EXPECT_EQ(device_->memory_info().cached, 2 * mebibyte - 1000 * 1024);
  for (char* block : blocks) device_->release(block);
  char* whole = allocate(mebibyte);  // neighbours are joined
  EXPECT_EQ(calls("cuMemAlloc_v2") - before, 1);
  device_->release(whole);
}

TEST_F(DevicePoolTest, LargeBlocksAreCutAndJoined) {
  char* large = allocate(64 * mebibyte);
  device_->release(large);
  long before = calls("cuMemAlloc_v2");
  char *first = allocate(20 * mebibyte), *second = allocate(40 * mebibyte);
  EXPECT_EQ(first, large);
  EXPECT_EQ(second, large + 20 * mebibyte);
  device_->release(first);
  device_->release(second);
  EXPECT_EQ(allocate(64 * mebibyte), large);
  EXPECT_EQ(calls("cuMemAlloc_v2"), before);
  device_->release(large);
}

TEST_F(DevicePoolTest, AnotherStreamGetsOnlyWhatIsDone) {
  CudaStream first = new_stream(), second = new_stream();
  char* memory;
  {
    StreamScope scope(*device_, first);
    memory = allocate(100000);
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(launch(fill, {1, 64}, memory, 64, i).ok());
    device_->release(memory);
    char* again = allocate(100000);
    EXPECT_EQ(again, memory);  // later work of the same stream
    device_->release(again);
  }
  StreamScope scope(*device_, second);
  char* early = allocate(100000);
  EXPECT_NE(early, memory);
  device_->release(early);
  ASSERT_TRUE(device_->wait_for_all().ok());
  std::vector<char*> blocks;
  for (int i = 0; i < 21; ++i) blocks.push_back(allocate(100000));  // more than one slab has
  EXPECT_NE(std::find(blocks.begin(), blocks.end(), memory), blocks.end());
  for (char* block : blocks) device_->release(block);
}

// Once a block comes back from elsewhere, an event of its stream that is complete says nothing about it.
TEST_F(DevicePoolTest, BlocksReleasedElsewhereStayWithTheirStream) {
  CudaStream first = new_stream(), second = new_stream();
  char* used;
  {
    StreamScope scope(*device_, first);
    char* early = allocate(300000);
    used = allocate(300000);
    device_->release(early);
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(launch(fill, {1, 64}, used, 64, i).ok());
  }
  device_->release(used);
  StreamScope scope(*device_, second);
  for (int i = 0; i < 4; ++i) {
    char* memory = allocate(300000);
    EXPECT_NE(memory, used);
    device_->release(memory);
  }
  std::vector<char*> blocks;
  for (int i = 0; i < 4; ++i) EXPECT_NE(blocks.emplace_back(allocate(300000)), used);
  for (char* block : blocks) device_->release(block);
}

TEST_F(DevicePoolTest, WorkOfOtherStreamsDelaysReuse) {
  CudaStream other = new_stream();
  char* memory = allocate(5 * mebibyte);
  {
    StreamScope scope(*device_, other);
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(launch(fill, {1, 64}, memory, 64, i).ok());
  }
  device_->use(memory, other);
  device_->release(memory);
  char* early = allocate(5 * mebibyte);
  EXPECT_NE(early, memory);
  ASSERT_TRUE(device_->wait_for_all().ok());
  char* late = allocate(5 * mebibyte);
  EXPECT_EQ(late, memory);
  device_->release(early);
  device_->release(late);
}

TEST_F(DevicePoolTest, ReleaseFromAnotherStreamWaitsForIt) {
  CudaStream other = new_stream();
  char* memory = allocate(5 * mebibyte);
  {
    StreamScope scope(*device_, other);
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(launch(fill, {1, 64}, memory, 64, i).ok());
    device_->release(memory);
  }
  char* early = allocate(5 * mebibyte);
  EXPECT_NE(early, memory);
  device_->release(early);
}

TEST_F(DevicePoolTest, LimitAndWhatTheDeviceHas) {
  device_->set_memory_limit(10 * mebibyte);
  char* first = allocate(6 * mebibyte);
  auto second = device_->allocate(6 * mebibyte);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.failure().reason, Reason::out_of_device_memory);
  device_->release(first);
  char* other = allocate(9 * mebibyte);  // what was cached is given back
  EXPECT_LE(device_->memory_info().used + device_->memory_info().cached, 10 * mebibyte);
  EXPECT_EQ(device_->memory_info().limit, 10 * mebibyte);
  device_->release(other);
  device_->set_memory_limit(0);
  device_->release_cached();

  set_option("limit", 100 * mebibyte);
  CudaStream stream = new_stream();
  {
    StreamScope scope(*device_, stream);
    device_->release(allocate(60 * mebibyte));
  }
  char* large = allocate(80 * mebibyte);
  auto refused = device_->allocate(80 * mebibyte);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.failure().detail.find("cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY"), std::string::npos);
  EXPECT_EQ(device_->memory_info().total, 100 * mebibyte);
  device_->release(large);
  EXPECT_FALSE(device_->allocate(INT64_MAX).ok());
}

TEST_F(DevicePoolTest, EveryBlockIsTheDriversWithoutThePool) {
  settings().cuda_pool.set(false);
  long before = calls("cuMemAlloc_v2");
  char* memory = allocate(100);
  device_->release(memory);
  char* other = allocate(100);
  EXPECT_NE(other, memory);
  EXPECT_EQ(calls("cuMemAlloc_v2") - before, 2);
  device_->release(other);
}

// Random sizes, streams and threads: no two live blocks share a byte, and nothing is lost.
TEST_F(DevicePoolTest, LiveBlocksAreDisjoint) {
  CudaStream streams[] = {nullptr, new_stream(), new_stream()};
  std::mutex mutex;
  std::map<char*, int64_t> live;
  auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    std::vector<char*> own;
    for (int i = 0; i < 3000; ++i) {
      StreamScope scope(*device_, streams[random() % 3]);
      if (own.empty() || random() % 100 < 52) {
        int64_t bytes = 1 + random() % (random() % 20 == 0 ? 5000000 : 50000);
        char* memory = allocate(bytes);
        std::lock_guard lock(mutex);
        auto next = live.lower_bound(memory);
        ASSERT_TRUE(next == live.end() || memory + bytes <= next->first);
        ASSERT_TRUE(next == live.begin() || std::prev(next)->first + std::prev(next)->second <= memory);
        live[memory] = bytes;
        own.push_back(memory);
      } else {
        size_t at = random() % own.size();
        {
          std::lock_guard lock(mutex);
          live.erase(own[at]);
        }
        if (random() % 4 == 0) device_->use(own[at], streams[random() % 3]);
        device_->release(own[at]);
        own.erase(own.begin() + static_cast<std::ptrdiff_t>(at));
      }
      if (i % 1000 == 999) device_->release_cached();
    }
    std::lock_guard lock(mutex);
    for (char* memory : own) {
      live.erase(memory);
      device_->release(memory);
    }
  };
  std::thread first(work, 1), second(work, 2);
  first.join();
  second.join();
}

}  // namespace
}  // namespace accel
