#include "cpython/c_stack.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <utility>

namespace accel {
namespace {

// Pages are had when they are touched.
constexpr size_t segment_bytes = size_t{8} << 20;

// Memory for a stack, with a guard page at its lower end.
class Segment {
 public:
  Segment() {
    void* memory =
        mmap(nullptr, segment_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) return;
    memory_ = static_cast<char*>(memory);
    mprotect(memory_, page_bytes(), PROT_NONE);
  }
  ~Segment() {
    if (memory_ != nullptr) munmap(memory_, segment_bytes);
  }
  Segment(const Segment&) = delete;

  bool ok() const { return memory_ != nullptr; }
  char* lowest() const { return memory_ + page_bytes(); }
  size_t bytes() const { return segment_bytes - page_bytes(); }

 private:
  static size_t page_bytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }
  char* memory_ = nullptr;
};

// One call on another stack.
struct Crossing {
  StackBody body;
  void* context;
  PyObject* result = nullptr;
  ucontext_t before, within;
};

thread_local char* lowest_in_use = nullptr;   // address of the stack in use; null: not known yet
thread_local size_t bytes_in_use = 0;         // of the further stack in use; 0: the thread's own
thread_local Crossing* begun = nullptr;       // the crossing that begins
thread_local std::unique_ptr<Segment> spare;  // for the next crossing: calls in a loop may cross again and again

char* lowest_of_thread() {
  pthread_attr_t attributes;
  void* base = nullptr;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &base, &size);
    pthread_attr_destroy(&attributes);
  }
  return base != nullptr ? static_cast<char*>(base) : reinterpret_cast<char*>(1);
}

// Python code may have changed the signals that the thread blocks: they stay as they are when the stack is left.
void cross() {
  Crossing& crossing = *begun;
  crossing.result = crossing.body(crossing.context);
  pthread_sigmask(SIG_BLOCK, nullptr, &crossing.before.uc_sigmask);
}

// CPython's own limit of C recursion goes by the stack in use.
void set_stack_protection([[maybe_unused]] char* lowest, [[maybe_unused]] size_t bytes) {
#if PY_VERSION_HEX >= 0x030E0000
  PyThreadState* thread = PyThreadState_Get();
  if (bytes > 0)
    PyUnstable_ThreadState_SetStackProtection(thread, lowest, bytes);
  else
    PyUnstable_ThreadState_ResetStackProtection(thread);
#endif
}

}  // namespace

size_t stack_bytes_left() {
  if (lowest_in_use == nullptr) lowest_in_use = lowest_of_thread();
  char* here = static_cast<char*>(__builtin_frame_address(0));
  return here > lowest_in_use ? static_cast<size_t>(here - lowest_in_use) : 0;
}

PyObject* call_on_new_stack(StackBody body, void* context) {
  auto segment = spare ? std::move(spare) : std::make_unique<Segment>();
  Crossing crossing{body, context};
  if (!segment->ok() || getcontext(&crossing.within) != 0) {
    PyErr_SetString(PyExc_RecursionError, "maximum recursion depth exceeded: no memory for a further stack");
    return nullptr;
  }
  crossing.within.uc_stack.ss_sp = segment->lowest();
  crossing.within.uc_stack.ss_size = segment->bytes();
  crossing.within.uc_link = &crossing.before;
  makecontext(&crossing.within, cross, 0);
  char* lowest = std::exchange(lowest_in_use, segment->lowest());
  const size_t bytes = std::exchange(bytes_in_use, segment->bytes());
  set_stack_protection(lowest_in_use, bytes_in_use);
  begun = &crossing;
  swapcontext(&crossing.before, &crossing.within);
  lowest_in_use = lowest;
  bytes_in_use = bytes;
  set_stack_protection(lowest, bytes);
  spare = std::move(segment);
  return crossing.result;
}

}  // namespace accel
