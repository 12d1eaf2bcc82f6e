#include "worker.h"

#include <sys/mman.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <utility>

#include "race_detector.h"

// Saves the registers of a fiber on its stack and goes on with another.
extern "C" void emulated_switch(void** save, void* to);
asm(".text\n.globl emulated_switch\n.hidden emulated_switch\nemulated_switch:\n"
    "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\nmov %rsp,(%rdi)\n"
    "mov %rsi,%rsp\npop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n");

namespace emulated {
namespace {

constexpr size_t stack_bytes = 256 << 10;

thread_local Worker* running = nullptr;

void fiber_main() {
  for (;;) running->run_threads();
}

}  // namespace

// Workers that no thread has at the moment.
std::mutex unused_mutex;
std::vector<Worker*> unused;

WorkerScope::WorkerScope() {
  std::lock_guard lock(unused_mutex);
  if (unused.empty()) unused.push_back(new Worker);
  running = worker_ = unused.back();
  unused.pop_back();
}

WorkerScope::~WorkerScope() {
  std::lock_guard lock(unused_mutex);
  unused.push_back(worker_);
  running = nullptr;
}

void call_barrier() { running->wait_for_block(); }
const unsigned long long* call_warp(unsigned mask, unsigned long long value, bool is_fence) {
  return running->wait_for_lanes(mask, value, is_fence);
}

// Fibers. ----------------------------------------------------------------------------------------------------------------

void Worker::prepare(Fiber* fiber) {
  void** top = reinterpret_cast<void**>(fiber->stack + stack_bytes);
  top[-2] = reinterpret_cast<void*>(fiber_main);
  fiber->stack_pointer = top - 8;
}

Fiber* Worker::new_fiber() {
  auto* fiber = new Fiber{};
  fiber->stack = static_cast<char*>(
      mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  mprotect(fiber->stack, 4096, PROT_NONE);
  prepare(fiber);
  if (has_race_detector()) fiber->race_fiber = __tsan_create_fiber(0);
  fibers_.push_back(fiber);
  return fiber;
}

// The fiber that can go on; null when there is none.
Fiber* Worker::next_fiber() {
  if (!ready_.empty()) {
    Fiber* fiber = ready_.front();
    ready_.pop_front();
    return fiber;
  }
  if (block_.next == block_.count) return nullptr;
  if (block_.one_each) {
    while (fibers_.size() < block_.count) new_fiber();
    return fibers_[block_.order[block_.next]];
  }
  if (idle_.empty()) return new_fiber();
  Fiber* fiber = idle_.back();
  idle_.pop_back();
  return fiber;
}

// All threads that have not left wait at the barrier: they go on.
void Worker::release_barrier() {
  if (!ready_.empty() || block_.next != block_.count || waiting_.empty()) return;
  if (waiting_.size() != block_.count - block_.done) return;
  if (emulator().options.order == 2) std::shuffle(waiting_.begin(), waiting_.end(), random_);
  ready_.assign(waiting_.begin(), waiting_.end());
  waiting_.clear();
  ++barriers_;
}

void Worker::switch_fiber() {
  Quiet quiet;
  release_barrier();
  Fiber* to = next_fiber();
  if (to == current_) return;
  void** save = current_ ? &current_->stack_pointer : &main_stack_pointer_;
  current_ = to;
  if (has_race_detector()) __tsan_switch_to_fiber(to ? to->race_fiber : main_race_fiber_, 1);
  emulated_switch(save, to ? to->stack_pointer : main_stack_pointer_);
}

void Worker::suspend() {
  Fiber* fiber = current_;
  fiber->thread = state_->thread;
  fiber->linear = state_->linear;
  switch_fiber();
  state_->thread = fiber->thread;
  state_->linear = fiber->linear;
}

void Worker::run_threads() {
  acquire(&launch_begins);
  acquire(&block_begins_);
  kernel_->run(arguments_, &block_, state_);
  release(&block_ends_);
  release(&launch_ends);
  if (!block_.one_each) idle_.push_back(current_);
  switch_fiber();
}

// What threads wait for. ---------------------------------------------------------------------------------------------------

void Worker::wait_for_block() {
  Quiet quiet;
  waiting_.push_back(current_);
  // Two tags in turn: with one, a thread that leaves late would see what an early one did afterwards.
  char* tag = &barrier_tags_[barriers_ & 1];
  release(tag);
  suspend();
  acquire(tag);
}

bool Worker::has_lanes(unsigned mask, unsigned base) const {
  for (unsigned i = 0; i < 32; ++i) {
    if (!(mask >> i & 1)) continue;
    if (base + i >= block_.count || !lanes_[base + i] || lanes_[base + i]->mask != mask) return false;
  }
  return true;
}

void Worker::hand_out_values(unsigned mask, unsigned base, Fiber* self) {
  unsigned long long values[32] = {};
  for (unsigned i = 0; i < 32; ++i)
    if (mask >> i & 1) values[i] = lanes_[base + i]->value;
  for (unsigned i = 0; i < 32; ++i) {
    if (!(mask >> i & 1)) continue;
    Fiber* lane = std::exchange(lanes_[base + i], nullptr);
    memcpy(lane->result, values, sizeof values);
    if (lane != self) ready_.push_back(lane);
  }
}

const unsigned long long* Worker::wait_for_lanes(unsigned mask, unsigned long long value, bool is_fence) {
  Quiet quiet;
  Fiber* fiber = current_;
  const unsigned base = state_->linear & ~31u;
  fiber->mask = mask;
  fiber->value = value;
  lanes_[state_->linear] = fiber;
  char* tag = &warp_tags_[base / 32][is_fence ? fiber->fences++ & 1 : 0];
  if (is_fence) release(tag);
  if (has_lanes(mask, base))
    hand_out_values(mask, base, fiber);
  else
    suspend();
  if (is_fence) acquire(tag);
  return fiber->result;
}

// Blocks. ------------------------------------------------------------------------------------------------------------------

void Worker::begin(const Kernel* kernel, void** arguments, ThreadState* state, const std::vector<unsigned>& order,
                   unsigned seed) {
  kernel_ = kernel;
  arguments_ = arguments;
  state_ = state;
  random_.seed(seed);
  block_.count = static_cast<unsigned>(order.size());
  block_.order = order.data();
  block_.one_each = has_race_detector();
}

int Worker::run_block(Triple at) {
  state_->block = at;
  block_.next = block_.done = 0;
  lanes_.assign(block_.count, nullptr);
  if (has_race_detector()) main_race_fiber_ = __tsan_get_current_fiber();
  release(&block_begins_);
  signal_ = 0;
  if (!__builtin_setjmp(jump_)) {
    is_running_ = true;
    switch_fiber();
  }
  is_running_ = false;
  acquire(&block_ends_);
  return block_.done == block_.count && !signal_ ? int{success} : fail_block(at);
}

int Worker::fail_block(Triple at) {
  if (has_race_detector() && current_) __tsan_switch_to_fiber(main_race_fiber_, 1);
  current_ = nullptr;
  idle_ = fibers_;
  ready_.clear();
  waiting_.clear();
  for (Fiber* fiber : fibers_) prepare(fiber);
  auto text = [](Triple t) { return "(" + std::to_string(t.x) + "," + std::to_string(t.y) + "," + std::to_string(t.z) + ")"; };
  std::string where = std::string(kernel_->name) + ": block " + text(at) + " thread " + text(state_->thread) + ": ";
  switch (signal_) {
    case 0:
      return say(launch_timeout, where + "threads wait for others that have left or wait elsewhere");
    case SIGSEGV:
    case SIGBUS:
      return say(illegal_address, where + describe_address(fault_));
    case SIGILL:
      return say(misaligned_address, where + "a check of the compiler's: alignment, bounds, cast, shift");
    default:
      return say(launch_failed, where + "division of an integer by 0");
  }
}

// Signals. -----------------------------------------------------------------------------------------------------------------

bool Worker::leave(int signal, void* address) {
  if (!is_running_) return false;
  fault_ = static_cast<char*>(address);
  signal_ = signal;
  __builtin_longjmp(jump_, 1);
}

namespace {

constexpr int caught[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
struct sigaction before[std::size(caught)];

// A fault of the host's own happens again, with the action that was set before.
void on_signal(int signal, siginfo_t* info, void*) {
  if (running && running->leave(signal, info->si_addr)) return;
  for (size_t i = 0; i < std::size(caught); ++i) sigaction(caught[i], &before[i], nullptr);
}

}  // namespace

void catch_signals() {
  struct sigaction action{};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (size_t i = 0; i < std::size(caught); ++i) sigaction(caught[i], &action, &before[i]);
}

// A fault for want of stack needs another stack.
void use_signal_stack() {
  static thread_local bool is_set = false;
  if (is_set) return;
  is_set = true;
  stack_t now{};
  if (sigaltstack(nullptr, &now) == 0 && !(now.ss_flags & SS_DISABLE)) return;
  stack_t own{};
  own.ss_size = 64 << 10;
  own.ss_sp = malloc(own.ss_size);
  sigaltstack(&own, nullptr);
}

}  // namespace emulated
