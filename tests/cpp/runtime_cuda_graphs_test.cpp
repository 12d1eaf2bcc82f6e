#include <thread>

#include "cuda_fixture.h"
#include "runtime/cuda/graphs/launch_graphs.h"

namespace accel {
namespace {

class GraphTest : public CudaTest {
 protected:
  static constexpr int n = 1000;

  void SetUp() override {
    CudaTest::SetUp();
    graphs_ = new_launch_graphs(*device_);
    ASSERT_NE(graphs_, nullptr);
  }
  // What another thread, which works on the same stream, gets.
  char* allocate_elsewhere(int64_t bytes) {
    char* memory = nullptr;
    std::thread([&] { memory = allocate(bytes); }).join();
    return memory;
  }

  std::shared_ptr<LaunchGraphs> graphs_;
};

TEST_F(GraphTest, LaunchesAreInOrder) {
  char *a = allocate(n * 4), *b = allocate(n * 4), *out = allocate(n * 4);
  const DeviceCounters before = device_->counters();
  for (int k = 0; k < 9; ++k) {
    set_option("order", k % 3);
    LaunchScope scope(*device_, graphs_.get());
    ASSERT_TRUE(launch(fill, {4, 256}, a, n, k).ok());
    ASSERT_TRUE(launch(fill, {4 + k, 256}, b, n, 2).ok());
    ASSERT_TRUE(launch(add, {4, 256}, a, b, out, n).ok());
    ASSERT_TRUE(launch(add, {4, 256}, out, b, out, n).ok());
    ASSERT_TRUE(launch(add, {0, 256}, out, b, out, n).ok());  // no blocks: nothing to do
    EXPECT_EQ(ints(out, n), std::vector<int>(n, k + 4));
  }
  const DeviceCounters after = device_->counters();
  EXPECT_EQ(after.launches - before.launches, 36);
  EXPECT_EQ(after.graphs - before.graphs, 8);
  EXPECT_EQ(after.graph_launches - before.graph_launches, 32);
  for (char* memory : {a, b, out}) device_->release(memory);
}

TEST_F(GraphTest, ManyLaunchesAreSeveralGraphs) {
  char* a = allocate(n * 4);
  const long launched = calls("cuGraphLaunch");
  for (int k = 0; k < 3; ++k) {
    LaunchScope scope(*device_, graphs_.get());
    ASSERT_TRUE(launch(fill, {4, 256}, a, n, 0).ok());
    for (int i = 0; i < 500; ++i) ASSERT_TRUE(launch(add, {4, 256}, a, a, a, n).ok());
    ASSERT_TRUE(launch(fill, {4, 256}, a, n, k).ok());
    EXPECT_EQ(ints(a, n), std::vector<int>(n, k));
  }
  EXPECT_GT(calls("cuGraphLaunch") - launched, 8);
  device_->release(a);
}

TEST_F(GraphTest, OtherWorkComesAfterWhatWasCollected) {
  char *a = allocate(n * 4), *b = allocate(n * 4);
  CudaStream other = new_stream();
  const std::vector<int> sevens(n, 7);
  for (int k = 0; k < 3; ++k) {
    LaunchScope scope(*device_, graphs_.get());
    ASSERT_TRUE(launch(fill, {4, 256}, a, n, 1).ok());
    ASSERT_TRUE(launch(fill, {4, 256}, b, n, 2).ok());
    ASSERT_TRUE(device_->copy(b, a, n * 4).ok());
    ASSERT_TRUE(launch(add, {4, 256}, a, b, a, n).ok());
    {
      StreamScope on_other(*device_, other);
      ASSERT_TRUE(device_->order_after(nullptr).ok());
      ASSERT_TRUE(launch(add, {4, 256}, a, a, b, n).ok());
      EXPECT_EQ(ints(b, n), std::vector<int>(n, 4));
    }
    ASSERT_TRUE(launch(fill, {4, 256}, a, n, 5).ok());
    ASSERT_TRUE(device_->upload(a, sevens.data(), n * 4).ok());
    EXPECT_EQ(ints(a, n), sevens);
    ASSERT_TRUE(launch(fill, {4, 256}, a, n, 6).ok());
    {
      LaunchScope one_by_one(*device_, nullptr);
      ASSERT_TRUE(launch(add, {4, 256}, a, a, a, n).ok());
    }
    ASSERT_TRUE(device_->wait().ok());
    EXPECT_EQ(ints(a, n), std::vector<int>(n, 12));
  }
  for (char* memory : {a, b}) device_->release(memory);
}

TEST_F(GraphTest, MemoryIsKeptUntilLaunchesAreSubmitted) {
  LaunchScope scope(*device_, graphs_.get());
  char* a = allocate(5000);
  ASSERT_TRUE(launch(fill, {4, 256}, a, n, 1).ok());
  device_->release(a);
  char* elsewhere = allocate_elsewhere(5000);
  EXPECT_NE(elsewhere, a);  // its work may come first
  char* b = allocate(4900);
  EXPECT_EQ(b, a);  // work of this thread comes later
  device_->release(b);
  ASSERT_TRUE(device_->submit().ok());
  char* later = allocate_elsewhere(5000);
  EXPECT_EQ(later, a);
  for (char* memory : {elsewhere, later}) device_->release(memory);
}

TEST_F(GraphTest, MemoryOfAnotherStreamIsNotUsedAgain) {
  LaunchScope scope(*device_, graphs_.get());
  char* a = allocate(5000);
  ASSERT_TRUE(launch(fill, {4, 256}, a, n, 1).ok());
  device_->use(a, new_stream());
  device_->release(a);
  char* b = allocate(5000);
  EXPECT_NE(b, a);
  device_->release(b);
  ASSERT_TRUE(device_->submit().ok());
  ASSERT_TRUE(device_->wait_for_all().ok());
}

TEST_F(GraphTest, LaunchesAreSubmittedForWantOfMemory) {
  device_->set_memory_limit(int64_t{3} << 20);
  LaunchScope scope(*device_, graphs_.get());
  char* a = allocate(int64_t{2} << 20);
  ASSERT_TRUE(launch(fill, {4, 256}, a, n, 1).ok());
  device_->release(a);
  char* b = allocate(1000);  // of another slab
  EXPECT_NE(b, nullptr);
  device_->release(b);
  ASSERT_TRUE(device_->submit().ok());
}

TEST_F(GraphTest, FailureOfALaunchStays) {
  char* a = allocate(n * 4);
  {
    LaunchScope scope(*device_, graphs_.get());
    ASSERT_TRUE(launch(fill, {4, 256}, a, n, 1).ok());
    fail_call("cuLaunchKernel", 1, 1, 0);
    auto submitted = device_->submit();
    ASSERT_FALSE(submitted.ok());
    EXPECT_NE(submitted.failure().detail.find("cuLaunchKernel"), std::string::npos);
    EXPECT_FALSE(launch(fill, {4, 256}, a, n, 1).ok());
    EXPECT_FALSE(device_->wait().ok());
  }
  EXPECT_TRUE(device_->wait().ok());
  device_->release(a);
}

}  // namespace
}  // namespace accel
