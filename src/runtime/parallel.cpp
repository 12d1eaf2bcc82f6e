#include "runtime/parallel.h"

#include <omp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>

#include "base/settings.h"
#include "runtime/float_environment.h"
#include "runtime/thread_pool.h"
#include "toolchain/machine.h"

namespace accel {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t chunks_per_thread = 8;
constexpr int64_t least_chunk_work = 16384;     // element operations; a smaller chunk costs more to hand out than it balances
constexpr int64_t most_chunk_work = 4'000'000;  // a few milliseconds, so that Ctrl-C is noticed
constexpr auto poll_interval = std::chrono::milliseconds(20);

std::atomic<bool (*)()> interrupt_poll{nullptr};
thread_local bool inside_loop = false;

// Taken when the library is loaded, before anybody can have called omp_set_num_threads through it.
const int initial_omp_threads = omp_get_max_threads();
const bool omp_threads_given = std::getenv("OMP_NUM_THREADS") != nullptr;

bool is_main_thread() { return syscall(SYS_gettid) == getpid(); }

// Interrupt poll of one loop, throttled.
class Poll {
 public:
  Poll() : ask_(interrupt_poll.load(std::memory_order_relaxed)) {
    if (ask_ && !is_main_thread()) ask_ = nullptr;
    if (ask_) next_ = Clock::now() + poll_interval;
  }
  bool active() const { return ask_ != nullptr; }
  bool interrupted() {
    if (!ask_ || Clock::now() < next_) return false;
    bool stop = ask_();
    next_ = Clock::now() + poll_interval;
    return stop;
  }

 private:
  bool (*ask_)();
  Clock::time_point next_;
};

int64_t divide_up(int64_t a, int64_t b) { return a / b + (a % b != 0); }

// Units (of grain iterations) per chunk.
int64_t chunk_units(int64_t units, int64_t work, int threads) {
  int64_t balanced = divide_up(units, threads * chunks_per_thread);
  double unit_work = std::max(1.0, static_cast<double>(work) / static_cast<double>(units));
  int64_t least_work = std::min(least_chunk_work, settings().parallel_threshold.get() / 4);
  int64_t least = static_cast<int64_t>(static_cast<double>(least_work) / unit_work);
  int64_t most = static_cast<int64_t>(static_cast<double>(most_chunk_work) / unit_work);
  return std::max<int64_t>(1, std::min(std::max(balanced, least), most));
}

class Loop final : public SharedWork {
 public:
  Loop(AccelRegion region, void* frame, int64_t n, int64_t chunk)
      : region_(region), frame_(frame), n_(n), chunk_(chunk), control_(float_control()) {}

  bool has_more() const override { return !stop_ && next_.load(std::memory_order_relaxed) < n_; }

  void run_as_worker() override {
    BorrowedFloatControl borrowed(control_);
    inside_loop = true;
    while (step()) {
    }
    flags_.fetch_or(static_cast<unsigned>(borrowed.flags()), std::memory_order_relaxed);
  }

  // Returns false when it was interrupted.
  bool run_as_caller(int threads) {
    Poll poll;
    inside_loop = true;
    if (threads > 1) share_work(*this, threads - 1);
    while (step())
      if (poll.interrupted()) stop_ = true;
    if (threads > 1) withdraw_work(*this);
    inside_loop = false;
    add_float_flags(static_cast<FloatFlags>(flags_.load()));
    return !stop_;
  }

 private:
  // Runs one chunk; false when none is left.
  bool step() {
    if (!has_more()) return false;
    int64_t begin = next_.fetch_add(chunk_, std::memory_order_relaxed);
    if (begin >= n_) return false;
    region_(frame_, begin, std::min(begin + chunk_, n_));
    return true;
  }

  AccelRegion region_;
  void* frame_;
  int64_t n_, chunk_;
  FloatControl control_;
  std::atomic<int64_t> next_{0};
  std::atomic<bool> stop_{false};
  std::atomic<unsigned> flags_{0};
};

// Threads worth using for `work`: each should have at least half a threshold's worth.
int useful_threads(int64_t units, int64_t work) {
  int64_t threshold = settings().parallel_threshold;
  int64_t threads = thread_count();
  if (threshold > 0) threads = std::min(threads, work / (threshold - threshold / 2));
  return static_cast<int>(std::clamp<int64_t>(threads, 1, units));
}

}  // namespace

int thread_count() {
  if (int64_t threads = settings().threads; threads > 0) return static_cast<int>(threads);
  int threads = omp_get_max_threads();
  if (omp_threads_given || threads != initial_omp_threads) return threads;
  return available_cpus();
}

void set_interrupt_poll(bool (*poll)()) { interrupt_poll = poll; }

int poll_interrupt() {
  thread_local Clock::time_point next;
  bool (*ask)() = interrupt_poll.load(std::memory_order_relaxed);
  Clock::time_point now = Clock::now();
  if (ask == nullptr || now < next) return 0;
  next = now + poll_interval;
  return is_main_thread() && ask() ? 1 : 0;
}

int parallel_for(AccelRegion region, void* frame, int64_t n, int64_t grain, int64_t work) {
  if (n <= 0) return 0;
  if (work < settings().parallel_threshold || inside_loop || omp_in_parallel()) {
    region(frame, 0, n);
    return 0;
  }
  grain = std::max<int64_t>(grain, 1);
  int64_t units = divide_up(n, grain);
  int threads = useful_threads(units, work);
  int64_t chunk = chunk_units(units, work, threads);
  Loop loop(region, frame, n, chunk >= units ? n : chunk * grain);
  return loop.run_as_caller(threads) ? 0 : 1;
}

}  // namespace accel
