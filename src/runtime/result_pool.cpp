#include "runtime/result_pool.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/settings.h"
#include "toolchain/files.h"
#include "toolchain/fork.h"
#include "toolchain/machine.h"

namespace accel {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t huge_page = size_t{2} << 20;
constexpr int64_t automatic_limit = int64_t{1} << 30;
constexpr auto idle_limit = std::chrono::seconds(10);

struct Block {
  char* memory;
  size_t bytes;
  Clock::time_point released;
  bool given_back = false;  // the system may take its pages
};

struct Pool {
  std::mutex mutex;
  std::unordered_map<void*, size_t> live;  // bytes of each block that is in use
  std::vector<Block> cached;               // released blocks, the oldest first
  PoolStats stats;
};

Pool& result_pool() { return process_wide<Pool>(); }

size_t page_bytes() {
  static const size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

bool has_huge_pages() {
  static const bool has = [] {
    auto policy = read_file("/sys/kernel/mm/transparent_hugepage/enabled");
    return policy && policy->find("[never]") == policy->npos;
  }();
  return has;
}

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Blocks start at different offsets in a page. A processor takes a load for one of what was stored shortly before where the
// last twelve bits of their addresses agree; large arrays of the system start at 16.
constexpr size_t first_start = 1024, start_step = 1024, starts = 3;

size_t start_in_page(const void* memory) { return reinterpret_cast<uintptr_t>(memory) % page_bytes(); }

bool may_be_block(const void* memory) {
  size_t start = start_in_page(memory);
  return start >= first_start && start % start_step == 0;
}

// Fresh memory of whole pages, on a huge page boundary where that helps.
char* map_pages(size_t bytes) {
  size_t slack = bytes >= huge_page ? huge_page : 0;
  void* memory = mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (slack == 0) return static_cast<char*>(memory);
  char* start = static_cast<char*>(memory);
  char* aligned = reinterpret_cast<char*>(round_up(reinterpret_cast<uintptr_t>(start), huge_page));
  size_t before = static_cast<size_t>(aligned - start);
  if (before > 0) munmap(start, before);
  if (slack > before) munmap(aligned + bytes, slack - before);
  if (has_huge_pages()) madvise(aligned, bytes, MADV_HUGEPAGE);
  return aligned;
}

char* map_block(size_t bytes, size_t number) {
  char* pages = map_pages(bytes + page_bytes());
  return pages ? pages + first_start + number % starts * start_step : nullptr;
}

void unmap_block(char* memory, size_t bytes) { munmap(memory - start_in_page(memory), bytes + page_bytes()); }

void unmap(const std::vector<Block>& blocks) {
  for (const auto& block : blocks) unmap_block(block.memory, block.bytes);
}

// From here on: requires the pool's mutex to be held. --------------------------------------------------------------------

Block take_at(size_t index) {
  Block block = result_pool().cached[index];
  result_pool().cached.erase(result_pool().cached.begin() + static_cast<std::ptrdiff_t>(index));
  result_pool().stats.kept_bytes -= static_cast<int64_t>(block.bytes);
  return block;
}

// The smallest cached block that fits and wastes at most an eighth; of equal ones the one released last, whose pages are in the
// caches.
char* take_fitting(size_t bytes, size_t* capacity) {
  auto& cached = result_pool().cached;
  size_t best = cached.size();
  for (size_t i = 0; i < cached.size(); i++)
    if (cached[i].bytes >= bytes && cached[i].bytes <= bytes + bytes / 8 &&
        (best == cached.size() || cached[i].bytes <= cached[best].bytes))
      best = i;
  if (best == cached.size()) return nullptr;
  Block block = take_at(best);
  *capacity = block.bytes;
  return block.memory;
}

// Blocks that are idle or beyond the limit, oldest first.
std::vector<Block> take_surplus(int64_t limit) {
  std::vector<Block> surplus;
  auto idle_since = Clock::now() - idle_limit;
  while (!result_pool().cached.empty() &&
         (result_pool().stats.kept_bytes > limit || result_pool().cached.front().released < idle_since))
    surplus.push_back(take_at(0));
  return surplus;
}

// Lets the system take the pages of cached blocks when it is short of memory, except of the blocks released last, whose next
// use would pay for that. Only huge pages make this cheap.
void give_back(int64_t but_bytes) {
  auto& cached = result_pool().cached;
  for (size_t i = cached.size(); i-- > 0;) {
    Block& block = cached[i];
    but_bytes -= static_cast<int64_t>(block.bytes);
    if (but_bytes >= 0) continue;
    if (block.given_back) return;
    if (block.bytes >= huge_page && has_huge_pages())
      madvise(block.memory - start_in_page(block.memory), block.bytes, MADV_FREE);
    block.given_back = true;
  }
}

// Requires the mutex to be free from here on. ----------------------------------------------------------------------------

char* map_or_trim(size_t bytes) {
  size_t number;
  {
    std::lock_guard lock(result_pool().mutex);
    number = static_cast<size_t>(result_pool().stats.mapped);
  }
  if (char* memory = map_block(bytes, number)) return memory;
  pool_trim();
  return map_block(bytes, number);
}

// Notes a block as in use; false when there is no memory for the note.
bool enter_live(char* memory, size_t bytes, bool reused) {
  std::lock_guard lock(result_pool().mutex);
  try {
    result_pool().live.emplace(memory, bytes);
  } catch (const std::bad_alloc&) {
    return false;
  }
  (reused ? result_pool().stats.reused : result_pool().stats.mapped)++;
  result_pool().stats.live_bytes += static_cast<int64_t>(bytes);
  return true;
}

// A block that is in the table of live ones, or null.
void* allocate_block(size_t wanted, bool fresh) {
  size_t bytes = round_up(wanted, page_bytes());
  if (bytes < wanted) return nullptr;
  char* memory = nullptr;
  if (!fresh) {
    std::lock_guard lock(result_pool().mutex);
    memory = take_fitting(bytes, &bytes);
  }
  bool reused = memory != nullptr;
  if (!memory) memory = map_or_trim(bytes);
  if (!memory) return nullptr;
  if (!enter_live(memory, bytes, reused)) {
    unmap_block(memory, bytes);
    return nullptr;
  }
  return memory;
}

// Bytes of a live block of the pool, 0 for any other memory. With `forget` the block leaves the table.
size_t live_bytes(void* memory, bool forget) {
  if (!may_be_block(memory)) return 0;  // nearly all memory that is not the pool's
  std::lock_guard lock(result_pool().mutex);
  auto at = result_pool().live.find(memory);
  if (at == result_pool().live.end()) return 0;
  size_t bytes = at->second;
  if (forget) {
    result_pool().live.erase(at);
    result_pool().stats.live_bytes -= static_cast<int64_t>(bytes);
  }
  return bytes;
}

// Requires a block that live_bytes has forgotten.
void cache_block(char* memory, size_t bytes) {
  int64_t limit = pool_limit();
  std::vector<Block> surplus;
  {
    std::lock_guard lock(result_pool().mutex);
    result_pool().cached.push_back({memory, bytes, Clock::now()});
    result_pool().stats.kept_bytes += static_cast<int64_t>(bytes);
    surplus = take_surplus(limit);
    give_back(limit / 4);
  }
  unmap(surplus);
}

}  // namespace

int64_t pool_limit() {
  int64_t limit = settings().result_pool_bytes;
  return limit >= 0 ? limit : std::min(automatic_limit, memory_bytes() / 8);
}

void* pool_allocate(size_t bytes) {
  if (bytes < pool_block_bytes) return std::malloc(std::max<size_t>(bytes, 1));
  return allocate_block(bytes, false);
}

void* pool_allocate_zeroed(size_t bytes) {
  if (bytes < pool_block_bytes) return std::calloc(std::max<size_t>(bytes, 1), 1);
  return allocate_block(bytes, true);
}

void pool_release(void* memory, size_t) {
  if (!memory) return;
  size_t bytes = live_bytes(memory, true);
  if (bytes == 0) {
    std::free(memory);
  } else if (static_cast<int64_t>(bytes) > pool_limit()) {
    unmap_block(static_cast<char*>(memory), bytes);
  } else {
    cache_block(static_cast<char*>(memory), bytes);
  }
}

void* pool_reallocate(void* memory, size_t bytes) {
  if (!memory) return pool_allocate(bytes);
  size_t old = live_bytes(memory, false);
  if (old == 0) return std::realloc(memory, std::max<size_t>(bytes, 1));  // malloc's block stays with malloc
  if (bytes <= old && bytes >= old / 2) return memory;
  void* moved = pool_allocate(bytes);
  if (!moved) return nullptr;
  std::memcpy(moved, memory, std::min(old, bytes));
  pool_release(memory, old);
  return moved;
}

void pool_trim() {
  std::vector<Block> all;
  {
    std::lock_guard lock(result_pool().mutex);
    all.swap(result_pool().cached);
    result_pool().stats.kept_bytes = 0;
  }
  unmap(all);
}

PoolStats pool_stats() {
  std::lock_guard lock(result_pool().mutex);
  PoolStats stats = result_pool().stats;
  stats.live_blocks = static_cast<int64_t>(result_pool().live.size());
  stats.kept_blocks = static_cast<int64_t>(result_pool().cached.size());
  return stats;
}

}  // namespace accel
