#pragma once
// The device on which calls run whose arguments are not on a device.

#include <Python.h>

namespace accel {

constexpr int on_cpu = -1;          // the CPU, where a number of a CUDA device could be
constexpr int no_choice = -2;       // nothing has been chosen here
constexpr int cpu_for_events = -3;  // the CPU instead of the chosen device, which reports no floating-point events
constexpr int by_arguments = -2;    // Entry::choice(): device arrays among the arguments decide

// Sets the choice of the calling thread (accel.device) or of the process (accel.set_default_device): a number of a CUDA device,
// on_cpu or, for the thread, no_choice. Return the one before.
int choose_device(int device);
int choose_default_device(int device);

// The device for a function with this choice of its own (accel.compile).
int chosen_device(int of_function);

}  // namespace accel
