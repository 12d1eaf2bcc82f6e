#pragma once
// fork() copies mutexes as they are. One that another thread holds would stay locked in the child for ever.

#include <mutex>

namespace accel {

// From now on fork() waits for `mutex` and both sides get it unlocked. `in_child` runs in the child, with the mutex held.
// Requires that the mutex lives for ever, is held for short times only, and that no two protected mutexes nest.
void protect_across_fork(std::mutex& mutex, void (*in_child)() = nullptr);

// The one T of the process, made when it is first asked for. Its member `mutex` is protected.
template <class T>
T& process_wide(void (*in_child)() = nullptr) {
  static T* instance = [&] {
    auto* made = new T;
    protect_across_fork(made->mutex, in_child);
    return made;
  }();
  return *instance;
}

}  // namespace accel
