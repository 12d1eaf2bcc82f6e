#pragma once
// What the parts of the emulated driver share. All state is plain data that one lock protects: a fault in a kernel leaves
// destructors unrun.

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "kernel_abi.h"

namespace emulated {

// Results of the driver (CUresult).
enum Result {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  invalid_device = 101,
  invalid_image = 200,
  no_context = 201,
  no_binary_for_device = 209,
  not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_timeout = 702,  // here: threads wait for others that do not come
  misaligned_address = 716,
  launch_failed = 719,
};

// Options, set by cuEmulateSet or ACCEL_EMULATE="order=2,seed=1":
//   order    in which threads and blocks run: 0 forwards, 1 backwards, 2 random
//   seed     of random orders; other than 0, streams that nothing waits for run ahead at random
//   workers  threads of the host that run the blocks of a kernel
//   hide     device memory can be touched only while the device works (1 at first)
//   eager    work is done when it is given to a stream
//   limit    bytes of the device; 0: 64 GiB
//   devices  how many there are, 1 at first
//   keep     modules stay in the file system, for tools that name lines
struct Options {
  long order = 0, seed = 0, workers = 1, hide = 1, eager = 0, limit = 0, devices = 1, keep = 0;
  long* find(const std::string& name);
};

struct Emulator {
  std::recursive_mutex mutex;
  Options options;
  std::mt19937 random;
  int sticky = 0;      // the error after which every call fails
  int said_code = 0;   // of the last report
  std::string report;  // what went wrong last
};
Emulator& emulator();

// Notes what went wrong; returns `code`.
int say(int code, std::string what);

// --- memory ---

// An allocation stands between pages that nothing may touch. It ends with bytes up to a multiple of 256 that are checked.
struct Allocation {
  char *base, *data;
  size_t span, bytes, room;
  bool is_host, is_freed;
};

int allocate(char** memory, size_t bytes, bool is_host);
int free_memory(char* memory);
size_t allocated_bytes();
// The live or freed allocation that an address lies in, or null.
const Allocation* find_allocation(const void* address);
bool is_device_range(const void* address, size_t bytes);
// Whether something was written beside an allocation. `who` did it.
int check_redzones(const std::string& who);
// Where an address lies that could not be touched, for a person.
std::string describe_address(const char* address);

// The host may touch device memory while it does the device's work, with the option `hide`.
void begin_device_work();
void end_device_work();
class DeviceWorks {
 public:
  DeviceWorks() { begin_device_work(); }
  ~DeviceWorks() { end_device_work(); }
};
void hide_device_memory(bool hide);

// --- streams ---

using Work = std::function<int()>;

// Work that a stream was given and has not done. It is done when something waits for it.
struct Stream {
  std::deque<Work> queue;
  bool is_blocking = false;  // ordered with the default stream
};

// One record of an event: what was recorded before stays as it is when the event is recorded again.
struct Mark {
  Stream* stream;
  bool is_done = false;
  std::chrono::steady_clock::time_point done_at{};
};
struct Event {
  std::shared_ptr<Mark> mark;
};

bool has_context();  // of the calling thread
Stream* default_stream();
Stream* new_stream(bool is_blocking);
void destroy_stream(Stream* stream);
Stream* stream_of(Stream* handle);
int enqueue(Stream* handle, Work work);
int step(Stream* stream);
int drain(Stream* stream);
int drain_all();
int finish(const std::shared_ptr<Mark>& mark);  // does the work up to a record of an event
void drop_work();                               // of all streams

// --- kernels ---

struct Module;
struct Function {
  Module* module;
  const Kernel* kernel;
  int allowed_dynamic_bytes = 48 << 10;
};

int load_module(Module** module, const char* image);
void unload_module(Module* module);
int find_function(Function** function, Module* module, const char* name);
unsigned char* dynamic_memory_of(Module* module);
ThreadState* state_of(Module* module);

struct Arguments {
  std::vector<char> bytes;
  std::vector<size_t> offsets;
};
struct Launch {
  Function* function;
  Triple grid, block;
  unsigned dynamic_bytes;
};
int check_launch(const Launch& launch);  // its shape
Arguments copy_arguments(const Kernel& kernel, void** values);
int run_kernel(const Launch& launch, Arguments& arguments);
// The thread-local memory of a module for the calling thread: its __shared__ variables.
struct SharedMemory {
  char* data = nullptr;
  size_t bytes = 0;
};
SharedMemory shared_memory_of(Module* module);

}  // namespace emulated
