#include "runtime/parallel.h"

#include <omp.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>

#include "base/settings.h"
#include "runtime/float_environment.h"
#include "toolchain/machine.h"

namespace accel {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t chunks_per_thread = 8;
constexpr int64_t least_chunk_work = 16384;     // element operations; a smaller chunk costs more to hand out than it balances
constexpr int64_t most_chunk_work = 4'000'000;  // a few milliseconds, so that Ctrl-C is noticed
constexpr auto poll_interval = std::chrono::milliseconds(20);

std::atomic<bool (*)()> interrupt_poll{nullptr};
std::atomic<int> active_loops{0};  // loops of different threads that run now
thread_local bool inside_loop = false;

// Taken when the library is loaded, before anybody can have called omp_set_num_threads through it.
const int initial_omp_threads = omp_get_max_threads();
const bool omp_threads_given = std::getenv("OMP_NUM_THREADS") != nullptr;

// libgomp's pool does not survive fork: its threads are not in the child, which would wait for them. Giving the pool up
// before the fork makes both sides start a new one when they need it.
[[maybe_unused]] const int fork_handlers =
    pthread_atfork([] { omp_pause_resource_all(omp_pause_hard); }, nullptr, [] { active_loops = 0; });

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

struct Loop {
  AccelRegion region;
  void* frame;
  int64_t n, chunk;
  std::atomic<int64_t> next{0};
  std::atomic<bool> stop{false};
  std::atomic<unsigned> flags{0};

  // Runs one chunk; false when none is left.
  bool step() {
    if (stop.load(std::memory_order_relaxed)) return false;
    int64_t begin = next.fetch_add(chunk, std::memory_order_relaxed);
    if (begin >= n) return false;
    region(frame, begin, std::min(begin + chunk, n));
    return true;
  }
};

void run_as_caller(Loop& loop) {
  Poll poll;
  while (loop.step())
    if (poll.interrupted()) loop.stop = true;
}

void run_as_worker(Loop& loop, const FloatControl& control) {
  BorrowedFloatControl borrowed(control);
  while (loop.step()) {
  }
  loop.flags.fetch_or(static_cast<unsigned>(borrowed.flags()), std::memory_order_relaxed);
}

void run_team(Loop& loop, int threads) {
  FloatControl control = float_control();
#pragma omp parallel num_threads(threads)
  {
    inside_loop = true;
    if (omp_get_thread_num() == 0)
      run_as_caller(loop);
    else
      run_as_worker(loop, control);
    inside_loop = false;
  }
  add_float_flags(static_cast<FloatFlags>(loop.flags.load()));
}

// Threads worth using for `work`: each should have at least half a threshold's worth.
int useful_threads(int64_t units, int64_t work, int running) {
  int64_t threshold = settings().parallel_threshold;
  if (work < threshold) return 1;
  int64_t threads = std::max(1, thread_count() / running);
  if (threshold > 0) threads = std::min(threads, work / (threshold - threshold / 2));
  return static_cast<int>(std::clamp<int64_t>(threads, 1, units));
}

struct Running {
  Running() : count(active_loops.fetch_add(1) + 1) {}
  ~Running() { active_loops.fetch_sub(1); }
  int count;
};

int run_loop(AccelRegion region, void* frame, int64_t n, int64_t grain, int64_t work) {
  Running running;
  int64_t units = divide_up(n, grain);
  int threads = useful_threads(units, work, running.count);
  int64_t chunk = chunk_units(units, work, threads);
  Loop loop{region, frame, n, chunk >= units ? n : chunk * grain};
  if (threads == 1)
    run_as_caller(loop);
  else
    run_team(loop, threads);
  return loop.stop ? 1 : 0;
}

}  // namespace

int thread_count() {
  if (int64_t threads = settings().threads; threads > 0) return static_cast<int>(threads);
  int threads = omp_get_max_threads();
  if (omp_threads_given || threads != initial_omp_threads) return threads;
  return available_cpus();
}

void set_interrupt_poll(bool (*poll)()) { interrupt_poll = poll; }

int parallel_for(AccelRegion region, void* frame, int64_t n, int64_t grain, int64_t work) {
  if (n <= 0) return 0;
  if (work < settings().parallel_threshold || inside_loop || omp_in_parallel()) {
    region(frame, 0, n);
    return 0;
  }
  return run_loop(region, frame, n, std::max<int64_t>(grain, 1), work);
}

}  // namespace accel
