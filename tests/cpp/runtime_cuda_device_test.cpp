#include <sys/wait.h>
#include <unistd.h>

#include <numeric>

#include "cuda_fixture.h"
#include "sanitizers.h"

namespace accel {
namespace {

using DeviceTest = CudaTest;

TEST(CudaDriverTest, MissingLibraryIsNamedAndAnotherOneIsTried) {
  settings().cuda_driver.set("/nowhere/libcuda.so.1");
  auto count = CudaDevice::count();
  ASSERT_FALSE(count.ok());
  EXPECT_EQ(count.failure().reason, Reason::no_cuda_driver);
  EXPECT_NE(count.failure().detail.find("/nowhere/libcuda.so.1"), std::string::npos);
  settings().cuda_driver.set(ACCEL_EMULATED_DRIVER "/libemulated_nvrtc.so");
  count = CudaDevice::count();
  ASSERT_FALSE(count.ok());
  EXPECT_NE(count.failure().detail.find("cuGetErrorName"), std::string::npos);
  settings().cuda_driver.set(ACCEL_EMULATED_DRIVER "/libemulated_cuda.so");
  count = CudaDevice::count();
  ASSERT_TRUE(count.ok()) << count.failure().detail;
  EXPECT_EQ(*count, 1);
}

TEST_F(DeviceTest, Facts) {
  EXPECT_EQ(device_->number(), 0);
  EXPECT_EQ(device_->name(), "emulated");
  EXPECT_EQ(device_->architecture(), 90);
  EXPECT_EQ(device_->processors(), 132);
  EXPECT_EQ(device_->shared_bytes(), 232448);
  EXPECT_EQ(CudaDevice::open(0).value(), device_);
  for (int number : {-1, 1, 1000}) {
    auto opened = CudaDevice::open(number);
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.failure().reason, Reason::no_cuda_device);
  }
}

TEST_F(DeviceTest, CopiesOfAllSizes) {
  for (int64_t bytes : {int64_t{0}, int64_t{1}, int64_t{1001}, int64_t{4} << 20, (int64_t{21} << 20) + 3}) {
    std::vector<unsigned char> from(static_cast<size_t>(bytes)), to(from.size(), 7);
    for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(i * 31 + i / 4096);
    char *first = allocate(bytes + 1), *second = allocate(bytes);
    auto expected = from;
    ASSERT_TRUE(device_->upload(first + 1, from.data(), bytes).ok());
    std::fill(from.begin(), from.end(), 0);  // it was read before the device did the copy
    ASSERT_TRUE(device_->copy(second, first + 1, bytes).ok());
    ASSERT_TRUE(device_->download(to.data(), second, bytes).ok());
    EXPECT_EQ(to, expected);
    device_->release(first);
    device_->release(second);
  }
}

TEST_F(DeviceTest, ManySmallUploadsAreNotMixedUp) {
  constexpr int count = 3000, ints_each = 500;  // more than the staging buffers hold
  char* memory = allocate(count * ints_each * 4);
  CudaStream other = new_stream();
  for (int k = 0; k < count; ++k) {
    std::vector<int> values(ints_each, k);
    StreamScope scope(*device_, k % 7 == 0 ? other : nullptr);
    ASSERT_TRUE(device_->upload(memory + k * ints_each * 4, values.data(), ints_each * 4).ok());
  }
  ASSERT_TRUE(device_->wait_for_all().ok());
  auto all = ints(memory, count * ints_each);
  for (int k = 0; k < count; ++k) {
    ASSERT_EQ(all[k * ints_each], k);
    ASSERT_EQ(all[(k + 1) * ints_each - 1], k);
  }
  device_->release(memory);
}

TEST_F(DeviceTest, LaunchesInOrder) {
  constexpr int n = 1000;
  char *a = allocate(n * 4), *b = allocate(n * 4), *out = allocate(n * 4);
  auto before = device_->counters();
  for (long order : {0, 1, 2}) {
    set_option("order", order);
    ASSERT_TRUE(launch(fill, {4, 256}, a, n, 3).ok());
    ASSERT_TRUE(launch(fill, {4, 256}, b, n, 4 + static_cast<int>(order)).ok());
    ASSERT_TRUE(launch(add, {4, 256}, a, b, out, n).ok());
    ASSERT_TRUE(launch(add, {0, 256}, a, b, out, n).ok());  // no blocks: nothing to do
    EXPECT_EQ(ints(out, n), std::vector<int>(n, 7 + static_cast<int>(order)));
    std::vector<int> values(256);
    std::iota(values.begin(), values.end(), 0);
    ASSERT_TRUE(device_->upload(a, values.data(), 1024).ok());
    ASSERT_TRUE(launch(sum, {1, 256}, a, out).ok());
    EXPECT_EQ(ints(out, 1)[0], 255 * 128);
  }
  auto after = device_->counters();
  EXPECT_EQ(after.launches - before.launches, 12);
  EXPECT_EQ(after.bytes_up - before.bytes_up, 3 * 1024);
  EXPECT_EQ(after.bytes_down - before.bytes_down, 3 * (n * 4 + 4));
  for (char* memory : {a, b, out}) device_->release(memory);
}

TEST_F(DeviceTest, DynamicSharedMemoryOfAnySize) {
  constexpr int n = 50000;
  char* out = allocate(n * 4);
  ASSERT_TRUE(launch(large_shared, {1, 128, n * 4}, out, n).ok());
  auto values = ints(out, n);
  EXPECT_EQ(values.front(), n - 1);
  EXPECT_EQ(values.back(), 0);
  auto refused = launch(large_shared, {1, 128, 240000}, out, n);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().reason, Reason::cuda_failed);
  device_->release(out);
}

TEST_F(DeviceTest, FaultOfAKernelIsNamed) {
  if (signals_end_the_process) GTEST_SKIP();
  settings().cuda_pool.set(false);
  char* memory = allocate(1000);
  ASSERT_TRUE(launch(beyond, {1, 1}, memory, 4096).ok());
  auto waited = device_->wait();
  ASSERT_FALSE(waited.ok());
  EXPECT_EQ(waited.failure().reason, Reason::cuda_failed);
  EXPECT_EQ(waited.failure().detail,
            "cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (beyond: block (0,0,0) thread (0,0,0): offset 16384 of an "
            "allocation of 1000 bytes)");
  EXPECT_FALSE(device_->upload(memory, &waited, 4).ok());  // the context is lost
  EXPECT_FALSE(device_->allocate(100).ok());
  reset();
  device_->release(memory);
}

TEST_F(DeviceTest, MemoryThatIsGivenBackIsNotUsed) {
  if (signals_end_the_process) GTEST_SKIP();
  settings().cuda_pool.set(false);
  char* memory = allocate(1000);
  ASSERT_TRUE(launch(beyond, {1, 1}, memory, 0).ok());
  device_->release(memory);  // after the kernel
  ASSERT_TRUE(device_->wait().ok());
  ASSERT_TRUE(launch(beyond, {1, 1}, memory, 0).ok());
  auto waited = device_->wait();
  ASSERT_FALSE(waited.ok());
  EXPECT_NE(waited.failure().detail.find("offset 0 of a freed allocation of 1000 bytes"), std::string::npos);
}

TEST_F(DeviceTest, WordsOfTheHost) {
  auto word = device_->take_words(1), words = device_->take_words(100);
  ASSERT_TRUE(word.ok() && words.ok());
  ASSERT_TRUE(launch(write_word, {1, 1}, device_->device_address(*words + 99), int64_t{-5}).ok());
  EXPECT_EQ((*words)[99], 0);  // nothing has waited
  ASSERT_TRUE(device_->wait().ok());
  EXPECT_EQ((*words)[99], -5);
  device_->give_words_back(*words, 100);
  auto again = device_->take_words(100);
  EXPECT_EQ(*again, *words);
  EXPECT_EQ((*again)[99], 0);
  std::vector<int64_t*> pages;
  for (int i = 0; i < 5; ++i) pages.push_back(device_->take_words(8192).value());
  for (int64_t* page : pages) device_->give_words_back(page, 8192);
  EXPECT_FALSE(device_->take_words(8193).ok());
  device_->give_words_back(*again, 100);
  device_->give_words_back(*word, 1);
}

TEST_F(DeviceTest, StreamsAreOrderedOnRequest) {
  constexpr int n = 64;
  CudaStream producer = new_stream();
  char *a = allocate(n * 4), *out = allocate(n * 4);
  for (long seed = 1; seed < 12; ++seed) {
    set_option("seed", seed);
    ASSERT_TRUE(launch(fill, {1, 64}, out, n, 0).ok());
    ASSERT_TRUE(device_->wait().ok());
    {
      StreamScope scope(*device_, producer);
      EXPECT_EQ(device_->stream(), producer);
      ASSERT_TRUE(launch(fill, {1, 64}, a, n, static_cast<int>(seed)).ok());
    }
    EXPECT_EQ(device_->stream(), nullptr);
    ASSERT_TRUE(device_->order_after(producer).ok());
    ASSERT_TRUE(launch(add, {1, 64}, a, a, out, n).ok());
    EXPECT_EQ(ints(out, n), std::vector<int>(n, 2 * static_cast<int>(seed)));
  }
  StreamScope legacy(*device_, reinterpret_cast<CudaStream>(1));
  EXPECT_EQ(device_->stream(), nullptr);
  device_->release(a);
  device_->release(out);
}

TEST_F(DeviceTest, ModulesThatCannotBeUsed) {
  auto module = DeviceModule::load(*device_, "no CUBIN", {});
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.failure().detail, "cuModuleLoadData: CUDA_ERROR_INVALID_IMAGE (the image is no ELF file)");
  const std::string image = compile("extern \"C\" __global__ void here(int) {}");
  module = DeviceModule::load(*device_, image, {"here", "absent"});
  ASSERT_FALSE(module.ok());
  EXPECT_NE(module.failure().detail.find("absent"), std::string::npos);
  EXPECT_TRUE(DeviceModule::load(*device_, image, {"here"}).ok());
}

TEST_F(DeviceTest, ChildOfAForkHasNoCuda) {
  if (sanitizer_forks_badly) GTEST_SKIP();
  char* memory = allocate(100);
  pid_t child = fork();
  if (child == 0) {
    auto opened = CudaDevice::open(0);
    bool failed = !opened.ok() && opened.failure().reason == Reason::cuda_failed &&
                  opened.failure().detail.find("forked") != std::string::npos && !CudaDevice::count().ok() &&
                  !device_->allocate(10).ok() && !device_->wait().ok();
    device_->release(memory);
    _exit(failed ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  device_->release(memory);
}

// Whatever call fails, the next round is right.
TEST_F(DeviceTest, FailuresAnywhereLeaveTheRestUsable) {
  struct {
    const char* function;
    int code;
  } cases[] = {{"cuMemAlloc_v2", 2},         {"cuMemcpyHtoDAsync_v2", 700}, {"cuMemcpyDtoHAsync_v2", 999},
               {"cuLaunchKernel", 719},      {"cuEventRecord", 1},          {"cuEventSynchronize", 999},
               {"cuStreamSynchronize", 700}, {"cuEventCreate", 2},          {"cuMemcpyDtoDAsync_v2", 1}};
  auto round = [&] {
    constexpr int n = 256;
    std::vector<int> values(n, 5);
    auto first = new_device_block(*device_, n * 4), second = new_device_block(*device_, n * 4);
    if (!first.ok() || !second.ok()) return false;
    char *a = (*first)->data, *b = (*second)->data;
    return device_->upload(a, values.data(), n * 4).ok() && launch(add, {1, 256}, a, a, b, n).ok() &&
           device_->copy(a, b, n * 4).ok() && device_->wait().ok() && device_->download(values.data(), a, n * 4).ok() &&
           values == std::vector<int>(n, 10);
  };
  for (auto& one : cases)
    for (long nth = 1; nth < 4; ++nth) {
      device_->release_cached();
      fail_call(one.function, nth, one.code, one.code != 2);
      round();
      fail_call(nullptr, 0, 0, 0);
      reset();
      EXPECT_TRUE(round()) << one.function << " " << nth;
    }
}

}  // namespace
}  // namespace accel
