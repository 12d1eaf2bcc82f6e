#include "dispatch/versions/device_choice.h"

#include <utility>

namespace accel {

namespace {

thread_local int of_thread = no_choice;
int of_process = on_cpu;  // guarded by the GIL

}  // namespace

int choose_device(int device) { return std::exchange(of_thread, device); }

int choose_default_device(int device) { return std::exchange(of_process, device); }

int chosen_device(int of_function) {
  if (of_thread != no_choice) return of_thread;
  return of_function != no_choice ? of_function : of_process;
}

}  // namespace accel
