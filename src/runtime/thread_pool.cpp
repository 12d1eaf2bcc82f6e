#include "runtime/thread_pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <vector>

#include "runtime/parallel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace accel {
namespace {

using Clock = std::chrono::steady_clock;

// How long a thread looks for more work before it sleeps: waking it takes tens of microseconds where the machine is virtual,
// and the next loop of a kernel usually follows at once.
constexpr std::chrono::microseconds worker_patience{200};
constexpr std::chrono::microseconds caller_patience{100};
constexpr int spins_between_looks = 64;  // at the clock
constexpr timespec caller_wait = {0, 20'000'000};
constexpr int first_wakes = 4;  // the woken threads wake the others
constexpr int further_wakes = 2;

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

// Spins until `done()`, for a limited time; false when that has passed. The thread that is waited for may be scheduled on this
// processor.
template <class Done>
bool spin_until(std::chrono::microseconds patience, Done done) {
  Clock::time_point end{};
  for (int spins = 1; !done(); ++spins) {
    relax();
    if (spins % spins_between_looks != 0) continue;
    sched_yield();
    Clock::time_point now = Clock::now();
    if (end == Clock::time_point{}) end = now + patience;
    if (now >= end) return false;
  }
  return true;
}

void futex_wait(std::atomic<uint32_t>& word, uint32_t value, const timespec* longest = nullptr) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT_PRIVATE, value, longest, nullptr, 0);
}

void futex_wake(std::atomic<uint32_t>& word, int count) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

}  // namespace

class ThreadPool {
 public:
  void share(SharedWork& work, int workers) {
    {
      std::lock_guard lock(mutex_);
      work.wanted_ = workers;
      offers_.push_back(&work);
      int wanted = 0;
      for (const SharedWork* each : offers_) wanted += each->wanted_;
      wanted = std::max(workers, std::min(wanted, thread_count() - 1));
      while (threads_ < wanted && start_thread()) threads_++;
    }
    generation_.fetch_add(1);
    wake(std::min(workers, first_wakes));
  }

  void withdraw(SharedWork& work) {
    {
      std::lock_guard lock(mutex_);
      offers_.erase(std::find(offers_.begin(), offers_.end(), &work));
    }
    auto empty = [&] { return work.inside_.load(std::memory_order_acquire) == 0; };
    if (spin_until(caller_patience, empty)) return;
    while (uint32_t inside = work.inside_.load(std::memory_order_acquire)) {
      futex_wait(work.inside_, inside, &caller_wait);
      work.while_waiting();
    }
  }

 private:
  static void* run_thread(void* pool) {
    static_cast<ThreadPool*>(pool)->serve();
    return nullptr;
  }

  // Signals are for the host program's threads: here they are blocked.
  bool start_thread() {
    sigset_t all, previous;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &previous);
    pthread_t thread;
    bool started = pthread_create(&thread, nullptr, run_thread, this) == 0;
    pthread_sigmask(SIG_SETMASK, &previous, nullptr);
    if (!started) return false;
    pthread_setname_np(thread, "accel-worker");
    pthread_detach(thread);
    return true;
  }

  void serve() {
    const int number = numbers_.fetch_add(1);
    for (;;) {
      uint32_t seen = generation_.load();
      if (SharedWork* work = enter()) {
        work->run_as_worker(number);
        leave(*work);
      } else {
        wait_for_change(seen);
      }
    }
  }

  // The offer that needs a thread most, or null.
  SharedWork* enter() {
    SharedWork* best = nullptr;
    bool more_wanted = false;
    {
      std::lock_guard lock(mutex_);
      uint32_t least = 0;
      for (SharedWork* work : offers_) {
        uint32_t inside = work->inside_.load(std::memory_order_relaxed);
        if (inside >= static_cast<uint32_t>(work->wanted_) || !work->has_more() || (best && inside >= least)) continue;
        best = work;
        least = inside;
      }
      if (!best) return nullptr;
      best->inside_.fetch_add(1, std::memory_order_relaxed);
      more_wanted = least + 1 < static_cast<uint32_t>(best->wanted_);
    }
    if (more_wanted) wake(further_wakes);
    return best;
  }

  // After the last thread has left, `work` may be gone: only its address is used then, and a wake-up more does no harm.
  static void leave(SharedWork& work) {
    std::atomic<uint32_t>& inside = work.inside_;
    if (inside.fetch_sub(1, std::memory_order_release) == 1) futex_wake(inside, 1);
  }

  void wake(int count) {
    if (sleepers_.load() > 0) futex_wake(generation_, count);
  }

  void wait_for_change(uint32_t seen) {
    if (spin_until(worker_patience, [&] { return generation_.load(std::memory_order_acquire) != seen; })) return;
    sleepers_.fetch_add(1);
    futex_wait(generation_, seen);
    sleepers_.fetch_sub(1);
  }

  std::mutex mutex_;
  std::vector<SharedWork*> offers_;
  int threads_ = 0;
  std::atomic<int> numbers_{0};
  std::atomic<uint32_t> generation_{0};  // changes with every offer
  std::atomic<int> sleepers_{0};
};

namespace {

std::atomic<ThreadPool*> current{nullptr};

// The child of a fork has none of the threads; the old pool is leaked, as its state is unknown.
void forget_pool() { current.store(new ThreadPool, std::memory_order_release); }

// When the library is loaded, so that no fork can come before.
[[maybe_unused]] const int fork_handler = (forget_pool(), pthread_atfork(nullptr, nullptr, forget_pool));

ThreadPool& pool() { return *current.load(std::memory_order_acquire); }

}  // namespace

void share_work(SharedWork& work, int workers) { pool().share(work, workers); }
void withdraw_work(SharedWork& work) { pool().withdraw(work); }

}  // namespace accel
