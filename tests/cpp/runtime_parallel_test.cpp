#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "base/settings.h"
#include "runtime/parallel.h"
#include "runtime/runtime.h"
#include "runtime/thread_pool.h"
#include "sanitizers.h"
#include "toolchain/machine.h"

namespace accel {
namespace {

class ParallelTest : public ::testing::Test {
 protected:
  void TearDown() override {
    forget_interrupt();
    set_interrupt_poll(nullptr);
    settings().threads.set(0);
    settings().parallel_threshold.set(std::stoll(find_setting("parallel_threshold")->default_text));
  }
};

// What a region saw.
struct Record {
  std::mutex mutex;
  std::vector<std::pair<int64_t, int64_t>> chunks;
  std::set<std::thread::id> threads;
};

void record(void* frame, int64_t begin, int64_t end) {
  auto* seen = static_cast<Record*>(frame);
  std::lock_guard lock(seen->mutex);
  seen->chunks.emplace_back(begin, end);
  seen->threads.insert(std::this_thread::get_id());
}

// Every index once, every start a multiple of grain.
void expect_cover(Record& seen, int64_t n, int64_t grain) {
  std::sort(seen.chunks.begin(), seen.chunks.end());
  int64_t at = 0;
  for (auto [begin, end] : seen.chunks) {
    EXPECT_EQ(begin, at);
    EXPECT_EQ(begin % grain, 0);
    EXPECT_GT(end, begin);
    at = end;
  }
  EXPECT_EQ(at, n);
}

TEST_F(ParallelTest, CoversTheRangeAtAnyThreadCount) {
  for (int64_t threads : {1, 2, 16})
    for (int64_t threshold : {0, 1000, 100000})
      for (int64_t n : {1, 2, 7, 64, 1000, 12345})
        for (int64_t grain : {1, 3, 64, 100000})
          for (int64_t work : {int64_t{0}, n, n * 1000}) {
            settings().threads.set(threads);
            settings().parallel_threshold.set(threshold);
            Record seen;
            EXPECT_EQ(parallel_for(record, &seen, n, grain, work), 0);
            expect_cover(seen, n, grain);
            if (work < threshold) {
              EXPECT_EQ(seen.chunks.size(), 1u);
            }
          }
}

TEST_F(ParallelTest, NothingToDo) {
  Record seen;
  EXPECT_EQ(parallel_for(record, &seen, 0, 1, 0), 0);
  EXPECT_EQ(parallel_for(record, &seen, -5, 1, 1 << 30), 0);
  EXPECT_TRUE(seen.chunks.empty());
}

TEST_F(ParallelTest, SmallWorkStaysOnTheCallingThread) {
  settings().threads.set(4);
  Record seen;
  parallel_for(record, &seen, 1000, 1, settings().parallel_threshold - 1);
  ASSERT_EQ(seen.chunks.size(), 1u);
  EXPECT_EQ(*seen.threads.begin(), std::this_thread::get_id());
}

void wait_a_moment(void* frame, int64_t begin, int64_t end) {
  usleep(2000);
  record(frame, begin, end);
}

// Number of threads that took part in a loop; on a busy machine it may take some loops until all have.
size_t threads_seen(size_t expected) {
  size_t most = 0;
  for (int i = 0; i < 50 && most < expected; i++) {
    Record seen;
    parallel_for(wait_a_moment, &seen, 256, 1, 256);
    expect_cover(seen, 256, 1);
    most = std::max(most, seen.threads.size());
  }
  return most;
}

TEST_F(ParallelTest, UsesTheThreadsThatAreSet) {
  settings().parallel_threshold.set(0);
  for (size_t threads : {1, 2, 16}) {
    settings().threads.set(static_cast<int64_t>(threads));
    EXPECT_EQ(threads_seen(threads), threads);
  }
}

TEST_F(ParallelTest, ThreadCountFollowsSettingOpenMpAndAffinity) {
  if (std::getenv("OMP_NUM_THREADS")) GTEST_SKIP() << "OMP_NUM_THREADS is set: affinity does not count then";
  EXPECT_EQ(thread_count(), available_cpus());
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &all)) {
      CPU_SET(cpu, &one);
      break;
    }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(thread_count(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  int before = omp_get_max_threads();
  omp_set_num_threads(before + 3);
  EXPECT_EQ(thread_count(), before + 3);
  settings().threads.set(7);
  EXPECT_EQ(thread_count(), 7);
  omp_set_num_threads(before);
}

TEST_F(ParallelTest, OmpNumThreadsCounts) {
  if (const char* given = std::getenv("OMP_NUM_THREADS")) {
    EXPECT_EQ(thread_count(), std::atoi(given));
    return;
  }
  pid_t pid = fork();
  if (pid == 0) {
    setenv("OMP_NUM_THREADS", "5", 1);
    execl("/proc/self/exe", "runtime_test", "--gtest_filter=ParallelTest.OmpNumThreadsCounts", nullptr);
    _exit(127);
  }
  int status = -1;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
}

void nested(void* frame, int64_t begin, int64_t end) {
  auto* wrong = static_cast<std::atomic<int>*>(frame);
  Record inner;
  parallel_for(record, &inner, 1000, 1, 1 << 30);
  if (inner.chunks.size() != 1 || *inner.threads.begin() != std::this_thread::get_id()) (*wrong)++;
}

TEST_F(ParallelTest, NestedCallsAreSerial) {
  settings().threads.set(4);
  settings().parallel_threshold.set(0);
  std::atomic<int> wrong{0};
  parallel_for(nested, &wrong, 64, 1, 64);
  EXPECT_EQ(wrong, 0);
}

void slow_first(void* frame, int64_t begin, int64_t end) {
  if (begin == 0) usleep(100000);
  record(frame, begin, end);
}

TEST_F(ParallelTest, OtherThreadsTakeTheWorkOfASlowOne) {
  settings().threads.set(2);
  settings().parallel_threshold.set(0);
  Record seen;
  parallel_for(slow_first, &seen, 1000, 1, 1000);
  expect_cover(seen, 1000, 1);
  EXPECT_EQ(seen.chunks.size(), 16u);
}

TEST_F(ParallelTest, ANegativeGrainGoesBackwards) {
  settings().parallel_threshold.set(0);
  for (int64_t threads : {1, 2, 16}) {
    settings().threads.set(threads);
    for (int64_t n : {1, 7, 12345}) {
      Record seen;
      EXPECT_EQ(parallel_for(record, &seen, n, -3, n * 1000), 0);
      if (threads == 1) EXPECT_TRUE(std::is_sorted(seen.chunks.rbegin(), seen.chunks.rend()));
      expect_cover(seen, n, 3);
    }
  }
}

std::atomic<int> polls{0};
std::atomic<Interrupt> answer{Interrupt::none};
Interrupt poll(int) {
  polls++;
  return answer;
}

void take_time(void* frame, int64_t begin, int64_t end) {
  usleep(5000);
  (*static_cast<std::atomic<int64_t>*>(frame)) += end - begin;
}

TEST_F(ParallelTest, InterruptStopsTheLoop) {
  set_interrupt_poll(poll);
  for (int64_t threads : {1, 2, 4}) {
    settings().threads.set(threads);
    settings().parallel_threshold.set(0);
    std::atomic<int64_t> done{0};
    polls = 0;
    answer = Interrupt::now;
    EXPECT_EQ(parallel_for(take_time, &done, 1000, 1, int64_t{1000} * 4'000'000), 1);
    EXPECT_EQ(polls, 1);
    EXPECT_LT(done, 1000);
    done = 0;
    answer = Interrupt::none;
    EXPECT_EQ(parallel_for(take_time, &done, 40, 1, int64_t{40} * 4'000'000), 0);
    EXPECT_EQ(done, 40);
    EXPECT_GT(polls, 1);
  }
}

TEST_F(ParallelTest, AnyThreadIsAsked) {
  set_interrupt_poll(poll);
  answer = Interrupt::now;
  polls = 0;
  std::thread other([] {
    std::atomic<int64_t> done{0};
    EXPECT_EQ(parallel_for(take_time, &done, 1000, 1, int64_t{1000} * 4'000'000), 1);
    EXPECT_LT(done, 1000);
  });
  other.join();
  EXPECT_EQ(polls, 1);
}

// The first question to the poll is due in the last but one of ten iterations.
void take_time_late(void* frame, int64_t begin, int64_t end) {
  if (begin <= 8 && 8 < end) usleep(21'000);
  (*static_cast<std::atomic<int64_t>*>(frame)) += end - begin;
}

TEST_F(ParallelTest, ALoopThatSoonEndsIsNotStoppedWhereTheRunLeavesBehindIt) {
  set_interrupt_poll(poll);
  answer = Interrupt::soon;
  settings().threads.set(1);
  settings().parallel_threshold.set(0);
  std::atomic<int64_t> done{0};
  polls = 0;
  EXPECT_EQ(parallel_for(take_time_late, &done, 10, 1, int64_t{10} * 4'000'000), 0);
  EXPECT_EQ(done, 10);
  EXPECT_GE(polls, 1);
  done = 0;
  EXPECT_EQ(parallel_for(take_time, &done, 10'000, 1, int64_t{10'000} * 4'000'000), 1);
}

// A loop of two threads in which everything happens in one order: both are in their first chunks; the caller's ends; the run is
// interrupted; the other thread sees that from within its chunk, ends it, and takes no other.
struct OrderedLoop {
  std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> other_has_begun{false}, other_has_seen{false};
  std::mutex mutex;
  std::vector<int64_t> begun;
};

std::atomic<Interrupt> answer_to_caller{Interrupt::none};
std::thread::id asking;
Interrupt poll_of_caller(int) { return std::this_thread::get_id() == asking ? answer_to_caller.load() : Interrupt::none; }

void run_in_order(void* frame, int64_t begin, int64_t) {
  auto* loop = static_cast<OrderedLoop*>(frame);
  {
    std::lock_guard lock(loop->mutex);
    loop->begun.push_back(begin);
  }
  if (std::this_thread::get_id() == loop->caller) {
    loop->other_has_begun.wait(false);
    usleep(21'000);  // a loop is not asked before
    return;
  }
  loop->other_has_begun = true;
  loop->other_has_begun.notify_all();
  AccelPoll state = {};
  while (poll_interrupt(0, &state) == 0) std::this_thread::yield();
  loop->other_has_seen = true;
}

TEST_F(ParallelTest, AnInterruptEndsAChunkThatAnotherThreadIsIn) {
  asking = std::this_thread::get_id();
  set_interrupt_poll(poll_of_caller);
  settings().threads.set(2);
  settings().parallel_threshold.set(0);
  for (Interrupt how : {Interrupt::now, Interrupt::soon}) {  // with so much to do it does not end soon
    answer_to_caller = how;
    OrderedLoop loop;
    EXPECT_EQ(parallel_for(run_in_order, &loop, 1000, 1, int64_t{1000} * 4'000'000), 1);
    EXPECT_TRUE(loop.other_has_seen);
    std::sort(loop.begun.begin(), loop.begun.end());
    EXPECT_EQ(loop.begun, (std::vector<int64_t>{0, 500}));
    forget_interrupt();
  }
}

TEST_F(ParallelTest, QuestionsComeAboutEveryInterval) {
  set_interrupt_poll(nullptr);
  AccelPoll state = {};
  EXPECT_EQ(poll_interrupt(1, &state), 0);
  int64_t first = state.turns;
  EXPECT_EQ(poll_interrupt(1, &state), 0);
  EXPECT_GT(state.turns, first);
  usleep(100'000);
  int64_t before = state.turns;
  EXPECT_EQ(poll_interrupt(1, &state), 0);
  EXPECT_LT(state.turns, before);
}

std::vector<int> kinds_asked;
Interrupt poll_by_kind(int leaves) {
  kinds_asked.push_back(leaves);
  return Interrupt::none;
}

TEST_F(ParallelTest, LoopsThatMayLeaveForMoreReasonsAskInTheirOwnTime) {
  set_interrupt_poll(poll_by_kind);
  usleep(21'000);  // since the questions of other tests
  AccelPoll state = {};
  for (int leaves : {0, 1, 2, 2, 1, 3}) poll_interrupt(leaves, &state);
  EXPECT_EQ(kinds_asked, (std::vector<int>{0, 2}));
}

struct FloatCase {
  std::mutex mutex;
  std::set<double> quotients;
  std::set<std::thread::id> threads;
};

void divide(void* frame, int64_t begin, int64_t) {
  usleep(2000);
  auto* seen = static_cast<FloatCase*>(frame);
  volatile double zero = 0, one = 1, three = 3;
  if (begin >= 32) zero = one / zero;
  std::lock_guard lock(seen->mutex);
  seen->quotients.insert(one / three);
  seen->threads.insert(std::this_thread::get_id());
}

TEST_F(ParallelTest, WorkersShareTheCallersFloatingPointState) {
  settings().threads.set(4);
  settings().parallel_threshold.set(0);
  for (int rounding : {FE_UPWARD, FE_TONEAREST}) {
    fesetround(rounding);
    feclearexcept(FE_ALL_EXCEPT);
    FloatCase seen;
    parallel_for(divide, &seen, 64, 1, 64);
    volatile double one = 1, three = 3;
    double expected = one / three;  // rounded as the caller asked for
    fesetround(FE_TONEAREST);
    EXPECT_GT(seen.threads.size(), 1u);
    EXPECT_EQ(seen.quotients, std::set<double>{expected});
    EXPECT_EQ(one / three == expected, rounding == FE_TONEAREST);
    EXPECT_TRUE(fetestexcept(FE_DIVBYZERO));
  }
  feclearexcept(FE_ALL_EXCEPT);
  FloatCase quiet;
  parallel_for(divide, &quiet, 32, 1, 32);
  EXPECT_FALSE(fetestexcept(FE_DIVBYZERO));  // flags of earlier loops do not come back
}

void add_up(void* frame, int64_t begin, int64_t end) { (*static_cast<std::atomic<int64_t>*>(frame)) += end - begin; }

bool loop_works() {
  std::atomic<int64_t> sum{0};
  return parallel_for(add_up, &sum, 100000, 1, int64_t{1} << 30) == 0 && sum == 100000;
}

TEST_F(ParallelTest, SurvivesFork) {
  if (sanitizer_forks_badly) GTEST_SKIP() << "the sanitizer does not survive fork";
  settings().threads.set(4);
  ASSERT_TRUE(loop_works());
  for (int i = 0; i < 20; i++) {
    pid_t pid = fork();
    if (pid == 0) {
      alarm(10);
      if (!loop_works()) _exit(1);
      pid_t grandchild = fork();
      if (grandchild == 0) {
        alarm(10);
        _exit(loop_works() ? 0 : 1);
      }
      int status = -1;
      waitpid(grandchild, &status, 0);
      _exit(status == 0 && loop_works() ? 0 : 2);
    }
    EXPECT_TRUE(loop_works());
    int status = -1;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

TEST_F(ParallelTest, SurvivesForkWhileOtherThreadsCompute) {
  if (sanitizer_forks_badly) GTEST_SKIP() << "the sanitizer does not survive fork";
  settings().threads.set(4);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++)
    threads.emplace_back([&] {
      while (!stop) EXPECT_TRUE(loop_works());
    });
  for (int i = 0; i < 20; i++) {
    pid_t pid = fork();
    if (pid == 0) {
      alarm(30);
      settings().parallel_threshold.set(0);
      _exit(loop_works() && threads_seen(4) == 4 ? 0 : 1);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  for (auto& thread : threads) thread.join();
}

TEST_F(ParallelTest, ManyCallersAtOnce) {
  settings().threads.set(2);
  settings().parallel_threshold.set(0);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; i++)
    threads.emplace_back([] {
      for (int j = 0; j < 200; j++) EXPECT_TRUE(loop_works());
    });
  for (auto& thread : threads) thread.join();
}

TEST_F(ParallelTest, AllocateIsAlignedAtAnySize) {
  const AccelRuntime& runtime = host_runtime();
  EXPECT_EQ(runtime.allocate(-1), nullptr);
  for (int64_t bytes : {0, 1, 63, 64, 65, 4096, 100000, 1 << 20, (1 << 20) + 1, 5 << 20}) {
    auto* memory = static_cast<char*>(runtime.allocate(bytes));
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
    if (bytes > 0) memory[0] = memory[bytes - 1] = 1;
    runtime.release(memory);
  }
  runtime.release(nullptr);
}

// Work of which each worker waits until enough of them are there, for a limited time.
struct Crowd final : SharedWork {
  explicit Crowd(std::atomic<int>& here) : here(here) {}
  void run_as_worker(int) override {
    ++here;
    for (int k = 0; k < 2000 && here < enough; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    is_done = true;
  }
  bool has_more() const override { return !is_done; }
  void while_waiting() override {}

  static constexpr int enough = 6;
  std::atomic<int>& here;
  std::atomic<bool> is_done{false};
};

TEST_F(ParallelTest, SeveralOffersHaveThreadsOfTheirOwn) {
  settings().threads.set(8);
  std::atomic<int> here{0};
  Crowd first(here), second(here);
  share_work(first, 3);
  share_work(second, 3);
  for (int k = 0; k < 2000 && here < Crowd::enough; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(here, Crowd::enough);
  withdraw_work(first);
  withdraw_work(second);
}

}  // namespace
}  // namespace accel
