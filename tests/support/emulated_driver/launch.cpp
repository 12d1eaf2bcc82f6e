// Runs the blocks of a kernel.

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>

#include "race_detector.h"
#include "worker.h"

namespace emulated {
namespace {

constexpr unsigned char shared_byte = 0xCD, redzone_byte = 0xFC;

// Numbers from 0 in the order that the options say.
std::vector<unsigned> numbers(unsigned count) {
  std::vector<unsigned> order(count);
  std::iota(order.begin(), order.end(), 0u);
  auto& e = emulator();
  if (e.options.order == 1) std::reverse(order.begin(), order.end());
  if (e.options.order == 2) std::shuffle(order.begin(), order.end(), e.random);
  return order;
}

// Shared memory of a block, filled with bytes that no program expects.
class BlockMemory {
 public:
  BlockMemory(Module* module, unsigned used)
      : all_(shared_memory_of(module)), dynamic_(dynamic_memory_of(module)), used_(used) {}

  void fill() {
    char* dynamic = reinterpret_cast<char*>(dynamic_);
    memset(all_.data, shared_byte, dynamic - all_.data);
    memset(dynamic, shared_byte, used_);
    memset(dynamic + used_, redzone_byte, dynamic_redzone);
    memset(dynamic + dynamic_bytes, shared_byte, all_.data + all_.bytes - (dynamic + dynamic_bytes));
  }
  bool is_whole() const {
    return std::all_of(dynamic_ + used_, dynamic_ + used_ + dynamic_redzone, [](auto byte) { return byte == redzone_byte; });
  }

 private:
  SharedMemory all_;
  unsigned char* dynamic_;
  unsigned used_;
};

struct Shared {
  const Launch& launch;
  void** arguments;
  std::vector<unsigned> threads, blocks;
  std::atomic<unsigned> taken{0};
  std::atomic<int> code{0};
};

void run_blocks(Shared& shared, unsigned seed) {
  use_signal_stack();
  const Launch& launch = shared.launch;
  const Triple grid = launch.grid;
  BlockMemory memory(launch.function->module, launch.dynamic_bytes);
  ThreadState* state = state_of(launch.function->module);
  WorkerScope scope;
  Worker& worker = scope.worker();
  worker.begin(launch.function->kernel, shared.arguments, state, shared.threads, seed);
  for (unsigned i; (i = shared.taken++) < shared.blocks.size() && !shared.code;) {
    memory.fill();
    state->block_dim = launch.block;
    state->grid_dim = grid;
    const unsigned block = shared.blocks[i];
    if (int code = worker.run_block({block % grid.x, block / grid.x % grid.y, block / grid.x / grid.y})) shared.code = code;
    if (!memory.is_whole())
      shared.code =
          say(illegal_address, std::string(launch.function->kernel->name) + ": wrote behind its dynamic shared memory");
  }
}

}  // namespace

int check_launch(const Launch& launch) {
  const auto [grid, block] = std::pair(launch.grid, launch.block);
  const unsigned long long threads = 1ull * block.x * block.y * block.z, blocks = 1ull * grid.x * grid.y * grid.z;
  const std::string name = launch.function->kernel->name;
  if (threads == 0 || threads > 1024 || blocks == 0 || blocks >> 31 || grid.y > 65535 || grid.z > 65535)
    return say(invalid_value, name + ": shape of the launch");
  if (static_cast<int>(launch.dynamic_bytes) > launch.function->allowed_dynamic_bytes)
    return say(invalid_value, name + ": dynamic shared memory that was not asked for");
  return success;
}

Arguments copy_arguments(const Kernel& kernel, void** values) {
  Arguments copied;
  for (int i = 0; i < kernel.argument_count; ++i) {
    const char* value = static_cast<const char*>(values[i]);
    copied.bytes.resize((copied.bytes.size() + 15) / 16 * 16);
    copied.offsets.push_back(copied.bytes.size());
    copied.bytes.insert(copied.bytes.end(), value, value + kernel.argument_bytes[i]);
  }
  return copied;
}

int run_kernel(const Launch& launch, Arguments& arguments) {
  std::vector<void*> pointers;
  for (size_t offset : arguments.offsets) pointers.push_back(arguments.bytes.data() + offset);
  auto& e = emulator();
  const unsigned blocks = launch.grid.x * launch.grid.y * launch.grid.z;
  Shared shared{launch, pointers.data(), numbers(launch.block.x * launch.block.y * launch.block.z), numbers(blocks)};
  release(&launch_begins);
  const unsigned workers = std::min(static_cast<unsigned>(std::max(1l, e.options.workers)), blocks);
  if (workers == 1) {
    run_blocks(shared, static_cast<unsigned>(e.random()));
  } else {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < workers; ++i)
      threads.emplace_back(run_blocks, std::ref(shared), static_cast<unsigned>(e.random()));
    for (auto& thread : threads) thread.join();
  }
  acquire(&launch_ends);
  return shared.code ? int(shared.code) : check_redzones(launch.function->kernel->name);
}

}  // namespace emulated
