#pragma once
// How functions of the driver begin.

#include "emulator.h"
#include "faults.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))
#define DRIVER_FUNCTION EXPORTED int

// Begins a function of the driver: one runs at a time, is counted, and fails where a test or an earlier error says so.
#define BEGIN_CALL                                  \
  std::lock_guard lock(emulated::emulator().mutex); \
  if (int injected = emulated::enter(__func__)) return injected
