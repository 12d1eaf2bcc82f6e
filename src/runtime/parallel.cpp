#include "runtime/parallel.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <optional>

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

constexpr auto short_wait = std::chrono::milliseconds(50);  // for the end of a loop, after which the run leaves

std::atomic<Interrupt (*)(int)> interrupt_poll{nullptr};
// Since when the kernel that the thread runs is interrupted and has not left yet (coarse_nanoseconds); 0: it is not.
thread_local int64_t interrupted_since = 0;
class Loop;
thread_local Loop* running = nullptr;  // that this thread is in

// Read when the library is loaded, before any call of omp_set_num_threads.
const int initial_omp_threads = omp_get_max_threads();
const bool omp_threads_given = std::getenv("OMP_NUM_THREADS") != nullptr;

// Interrupt poll of one loop, throttled.
class Poll {
 public:
  Poll() : ask_(interrupt_poll.load(std::memory_order_relaxed)) {
    if (ask_) start_ = Clock::now(), next_ = start_ + poll_interval;
  }
  // `done`: the part of the loop that threads have begun. Where the run can leave after the loop, the loop continues if it is
  // expected to end shortly, and for a short time only: its last iterations may never end.
  bool interrupted(double done) {
    if (!ask_) return false;
    Clock::time_point now = Clock::now();
    if (now < next_) return false;
    next_ = now + poll_interval;
    Interrupt asked = ask_(0);
    if (asked != Interrupt::none && interrupted_since == 0) interrupted_since = coarse_nanoseconds();
    if (asked != Interrupt::soon) return asked == Interrupt::now;
    if (coarse_nanoseconds() - interrupted_since >= std::chrono::nanoseconds(short_wait).count()) return true;
    return std::chrono::duration<double>(now - start_).count() * (1 - done) >
           done * std::chrono::duration<double>(short_wait).count();
  }

 private:
  Interrupt (*ask_)(int);
  Clock::time_point start_, next_;
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

// A range of chunks that threads take from both ends.
class Range {
 public:
  void set(int64_t begin, int64_t end) { ends_ = pack(begin, end); }
  std::optional<int64_t> take_first() {
    return take([](int64_t& begin, int64_t&) { return begin++; });
  }
  std::optional<int64_t> take_last() {
    return take([](int64_t&, int64_t& end) { return --end; });
  }

 private:
  static uint64_t pack(int64_t begin, int64_t end) { return static_cast<uint64_t>(begin) << 32 | static_cast<uint64_t>(end); }

  template <class Which>
  std::optional<int64_t> take(Which which) {
    uint64_t now = ends_.load(std::memory_order_relaxed);
    while (true) {
      int64_t begin = static_cast<int64_t>(now >> 32), end = static_cast<int64_t>(now & 0xffffffff);
      if (begin >= end) return std::nullopt;
      int64_t taken = which(begin, end);
      if (ends_.compare_exchange_weak(now, pack(begin, end), std::memory_order_relaxed)) return taken;
    }
  }

  alignas(64) std::atomic<uint64_t> ends_{0};
};

// Each thread has a range of its own, equal in consecutive loops, so that it finds the data of the previous loop in its caches.
// A thread that has done its own range takes chunks from the ends of the others.
class Loop final : public SharedWork {
 public:
  Loop(AccelRegion region, void* frame, int64_t n, int64_t chunk, int threads, bool backwards)
      : region_(region),
        frame_(frame),
        n_(n),
        chunk_(chunk),
        count_(divide_up(n, chunk)),
        backwards_(backwards),
        control_(float_control()) {
    ranges_ = static_cast<int>(std::min<int64_t>({threads, most_ranges, count_}));
    for (int k = 0; k < ranges_; ++k) own_[k].set(count_ * k / ranges_, count_ * (k + 1) / ranges_);
  }

  bool has_more() const override { return !stop_ && taken_.load(std::memory_order_relaxed) < count_; }

  void while_waiting() override {
    double done = static_cast<double>(std::min(taken_.load(std::memory_order_relaxed), count_)) / static_cast<double>(count_);
    if (poll_.interrupted(done)) stop_ = true;
  }

  void run_as_worker(int worker) override {
    BorrowedFloatControl borrowed(control_);
    running = this;
    int own = ranges_ > 1 ? 1 + worker % (ranges_ - 1) : 0;
    while (step(own)) {
    }
    running = nullptr;
    flags_.fetch_or(static_cast<unsigned>(borrowed.flags()), std::memory_order_relaxed);
  }

  // Returns false when it was interrupted.
  bool run_as_caller(int threads) {
    running = this;
    if (threads > 1) share_work(*this, threads - 1);
    while (step(0)) while_waiting();
    if (threads > 1) withdraw_work(*this);
    running = nullptr;
    add_float_flags(static_cast<FloatFlags>(flags_.load()));
    return !stop_;
  }

  void stop() { stop_ = true; }
  bool is_stopped() const { return stop_; }

  static constexpr int64_t most_chunks = int64_t{1} << 31;

 private:
  static constexpr int most_ranges = 32;

  std::optional<int64_t> take(int own) {
    std::optional<int64_t> chunk = backwards_ ? own_[own].take_last() : own_[own].take_first();
    for (int k = 1; !chunk && k < ranges_; ++k) {
      Range& other = own_[(own + k) % ranges_];
      chunk = backwards_ ? other.take_first() : other.take_last();
    }
    return chunk;
  }

  // Runs one chunk; false when none is left.
  bool step(int own) {
    if (!has_more()) return false;
    std::optional<int64_t> chunk = take(own);
    if (!chunk) return false;
    taken_.fetch_add(1, std::memory_order_relaxed);
    region_(frame_, *chunk * chunk_, std::min((*chunk + 1) * chunk_, n_));
    return true;
  }

  AccelRegion region_;
  void* frame_;
  int64_t n_, chunk_, count_;
  bool backwards_;
  FloatControl control_;
  int ranges_ = 1;
  Range own_[most_ranges];
  std::atomic<int64_t> taken_{0};
  std::atomic<bool> stop_{false};
  std::atomic<unsigned> flags_{0};
  Poll poll_;
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

void set_interrupt_poll(Interrupt (*poll)(int leaves)) { interrupt_poll = poll; }

int64_t coarse_nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

namespace {

constexpr int64_t most_turns = int64_t{1} << 22, first_turns = int64_t{1} << 16;
constexpr int64_t tick = 4'000'000, interval = 16'000'000;  // nanoseconds; the clock moves by ticks

// Turns until the next question, so that one comes about every interval.
void adapt(AccelPoll& state, int64_t now) {
  int64_t passed = now - state.last;
  if (state.last == 0)
    state.turns = first_turns;
  else if (passed < tick)
    state.turns = std::min(state.turns * 8, most_turns);
  else if (passed > interval)
    state.turns =
        std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(state.turns) * tick / static_cast<double>(passed)));
  state.last = now;
}

}  // namespace

void forget_interrupt() { interrupted_since = 0; }

int poll_interrupt(int leaves, AccelPoll* state) {
  thread_local int64_t next_of_kind[2] = {0, 0};
  int64_t& next = next_of_kind[leaves < 2 ? 0 : 1];  // separate intervals for the kinds of exits
  Interrupt (*ask)(int) = interrupt_poll.load(std::memory_order_relaxed);
  int64_t now = coarse_nanoseconds();
  adapt(*state, now);
  if (running != nullptr && running->is_stopped()) return 1;
  if (ask == nullptr || (now < next && interrupted_since == 0)) return 0;
  next = now + std::chrono::nanoseconds(poll_interval).count();
  Interrupt asked = ask(leaves);
  if (asked == Interrupt::none || asked == Interrupt::show) return asked == Interrupt::show;
  if (interrupted_since == 0) interrupted_since = now;
  bool waits = asked == Interrupt::soon && leaves == 0;  // for a loop around this one
  if (waits && now - interrupted_since < std::chrono::nanoseconds(short_wait).count()) {
    state->turns = 1;  // so that the loop around this one polls soon
    return 0;
  }
  if (running != nullptr) running->stop();
  return 1;
}

int parallel_for(AccelRegion region, void* frame, int64_t n, int64_t grain, int64_t work) {
  if (n <= 0) return 0;
  if (work < settings().parallel_threshold || running != nullptr || omp_in_parallel()) {
    region(frame, 0, n);
    return 0;
  }
  const bool backwards = grain < 0;
  grain = std::max<int64_t>(backwards ? -grain : grain, 1);
  int64_t units = divide_up(n, grain);
  int threads = useful_threads(units, work);
  int64_t chunk = chunk_units(units, work, threads);
  chunk = std::max(chunk, divide_up(units, Loop::most_chunks));
  Loop loop(region, frame, n, chunk >= units ? n : chunk * grain, threads, backwards);
  return loop.run_as_caller(threads) ? 0 : 1;
}

}  // namespace accel
