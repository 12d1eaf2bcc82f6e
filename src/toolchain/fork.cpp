#include "toolchain/fork.h"

#include <pthread.h>

#include <vector>

namespace accel {
namespace {

struct Protected {
  std::mutex* mutex;
  void (*in_child)();
};

struct Registry {
  std::mutex mutex;
  std::vector<Protected> items;
};

Registry* registry = nullptr;

void lock_all() {
  registry->mutex.lock();
  for (auto& item : registry->items) item.mutex->lock();
}

void unlock_all() {
  for (auto& item : registry->items) item.mutex->unlock();
  registry->mutex.unlock();
}

void unlock_all_in_child() {
  for (auto& item : registry->items)
    if (item.in_child) item.in_child();
  unlock_all();
}

}  // namespace

void protect_across_fork(std::mutex& mutex, void (*in_child)()) {
  static bool once = (registry = new Registry, pthread_atfork(lock_all, unlock_all, unlock_all_in_child), true);
  (void)once;
  std::lock_guard lock(registry->mutex);
  registry->items.push_back({&mutex, in_child});
}

}  // namespace accel
