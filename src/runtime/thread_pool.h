#pragma once
// The process's worker threads.
//
// A loop of OpenMP ends when every thread of its team has arrived, also one that the system did not let run: on a busy machine
// that costs milliseconds. Here the calling thread does all the work that no other thread has taken, and waits only for threads
// that are in the middle of a piece. The number of threads still comes from OpenMP (parallel.h).

#include <atomic>
#include <cstdint>

namespace accel {

// Work that several threads can do pieces of at once.
class SharedWork {
 public:
  // Does pieces until none is left. Runs on worker threads, which are numbered from 0.
  virtual void run_as_worker(int worker) = 0;
  virtual bool has_more() const = 0;
  // Called now and then on the thread that waits in withdraw_work.
  virtual void while_waiting() = 0;

 protected:
  ~SharedWork() = default;

 private:
  friend class ThreadPool;
  int wanted_ = 0;                   // guarded by the pool's mutex
  std::atomic<uint32_t> inside_{0};  // workers in run_as_worker
};

// Offers `work` to up to `workers` threads and returns at once. Threads are started when needed, for several offers as many as
// they want together, up to thread_count(); when none can be started, the caller does all the work. In the child of a fork the
// pool is empty and starts anew.
void share_work(SharedWork& work, int workers);

// Takes the offer back and waits for the workers inside to leave. Afterwards `work` may end.
void withdraw_work(SharedWork& work);

}  // namespace accel
