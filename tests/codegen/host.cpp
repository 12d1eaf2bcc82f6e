// The runtime services that kernels under test call: chunks run one after the other, or on real threads.

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

#include "codegen/kernel_abi.h"

namespace {

int threads = 1;
int64_t budget = -1;  // allocations that still succeed; negative: all
std::atomic<int64_t> live{0};
int interrupts = 0;

int parallel_for(accel::AccelRegion region, void* frame, int64_t n, int64_t grain, int64_t work) {
  if (interrupts) return 1;
  grain = std::abs(grain);
  int64_t units = (n + grain - 1) / grain, per_thread = (units + threads - 1) / threads * grain;
  std::vector<std::thread> others;
  for (int64_t begin = per_thread; begin < n; begin += per_thread) {
    int64_t end = begin + per_thread < n ? begin + per_thread : n;
    others.emplace_back([=] { region(frame, begin, end); });
  }
  region(frame, 0, per_thread < n ? per_thread : n);
  for (std::thread& other : others) other.join();
  return 0;
}

void* allocate(int64_t bytes) {
  if (budget == 0) return nullptr;
  if (budget > 0) --budget;
  ++live;
  return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
}

void release(void* memory) {
  --live;
  std::free(memory);
}

int polls = 0;
int poll(int, accel::AccelPoll* state) {
  state->turns = 1 << 16;
  return polls > 0 && --polls == 0;
}

int64_t smallest_work = 0;
int64_t serial_work() { return smallest_work; }

void commit() { interrupts = polls = 0; }

accel::AccelRuntime runtime = {parallel_for, allocate, release, nullptr, poll, serial_work, nullptr, nullptr, nullptr, commit};

}  // namespace

extern "C" {
const accel::AccelRuntime* host_runtime(int thread_count, int64_t allocations, int interrupted) {
  threads = thread_count;
  budget = allocations;
  interrupts = interrupted;
  smallest_work = 0;
  return &runtime;
}
int64_t host_live_allocations() { return live; }
void host_set_allocate_output(void* (*function)(void*, int, const int64_t*)) { runtime.allocate_output = function; }
void host_set_serial_work(int64_t work) { smallest_work = work; }
void host_interrupt_after(int count) { polls = count; }
}
