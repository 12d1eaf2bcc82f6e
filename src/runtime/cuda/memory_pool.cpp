#include "runtime/cuda/memory_pool.h"

#include <algorithm>
#include <string>

#include "base/settings.h"

namespace accel {
namespace {

constexpr int64_t block_unit = 256, mebibyte = int64_t{1} << 20;

// Small requests share slabs, so that they do not cut up the memory of large ones. `rest`: a block is cut when at least as much
// is left.
struct SlabKind {
  int64_t largest_request, slab_bytes, rest;
};
constexpr std::array<SlabKind, StreamBlocks::kinds> slab_kinds{{
    {mebibyte, 2 * mebibyte, block_unit},
    {16 * mebibyte, 32 * mebibyte, mebibyte},
    {INT64_MAX, 2 * mebibyte, 2 * mebibyte},  // slabs of the size that is asked for, in units of 2 MiB
}};

constexpr size_t most_queries = 8;  // unfinished blocks that an allocation asks about

int64_t round_up_to(int64_t bytes, int64_t unit) { return (bytes + unit - 1) / unit * unit; }

int kind_for(int64_t bytes) {
  int kind = 0;
  while (bytes > slab_kinds[kind].largest_request) kind++;
  return kind;
}

size_t size_index(int64_t bytes) { return static_cast<size_t>(bytes / block_unit - 1); }

bool is_recent_size(int64_t bytes) { return bytes <= StreamBlocks::recent_sizes * block_unit; }

}  // namespace

// What is asked for. -----------------------------------------------------------------------------------------------------

Result<char*> MemoryPool::allocate(int64_t bytes, CudaStream stream) {
  constexpr int64_t most = INT64_MAX / 2;
  if (bytes > most) return fail(Reason::out_of_device_memory, std::to_string(bytes) + " bytes are more than any device has");
  bytes = std::max<int64_t>(bytes, 1);
  std::lock_guard lock(mutex_);
  return settings().cuda_pool ? allocate_part(round_up_to(bytes, block_unit), stream) : allocate_whole(bytes);
}

void MemoryPool::release(char* memory, CudaStream stream) {
  std::lock_guard lock(mutex_);
  auto at = blocks_.find(memory);
  if (at == blocks_.end() || at->second->state != PoolBlock::live) return;
  PoolBlock& block = *at->second;
  used_ -= block.bytes;
  if (block.owner)
    release_part(block, stream);
  else
    release_whole(block, stream);
}

void MemoryPool::use(char* memory, CudaStream stream) {
  std::lock_guard lock(mutex_);
  auto at = blocks_.find(memory);
  if (at == blocks_.end()) return;
  PoolBlock& block = *at->second;
  if (block.owner && block.owner->stream == stream) return;
  if (std::find(block.users.begin(), block.users.end(), stream) == block.users.end()) block.users.push_back(stream);
}

int64_t MemoryPool::bytes_for(char* memory, CudaStream stream) {
  std::lock_guard lock(mutex_);
  auto at = blocks_.find(memory);
  if (at == blocks_.end()) return 0;
  const PoolBlock& block = *at->second;
  const bool is_own = block.owner != nullptr && block.owner->stream == stream && block.users.empty();
  return is_own && block.state == PoolBlock::live ? block.bytes : 0;
}

void MemoryPool::release_unused() {
  std::lock_guard lock(mutex_);
  if (context_.driver->cuCtxSynchronize() != 0) return;
  gather(blocks_of(nullptr));
  free_slabs();
}

void MemoryPool::set_limit(int64_t bytes) {
  std::lock_guard lock(mutex_);
  limit_ = std::max<int64_t>(bytes, 0);
}

void MemoryPool::count(DeviceMemoryInfo& info) {
  std::lock_guard lock(mutex_);
  info.used = used_;
  info.cached = held_ - used_;
  info.peak = peak_;
  info.limit = limit_;
}

// Blocks that are allocations of the driver: no memory is reused, so that tools see each access to memory that is given back.
// --

Result<char*> MemoryPool::allocate_whole(int64_t bytes) {
  auto memory = driver_memory(bytes);
  if (!memory.ok() && memory.failure().reason == Reason::out_of_device_memory) {
    ACCEL_CUDA(*context_.driver, cuCtxSynchronize);
    gather(blocks_of(nullptr));
    free_slabs();
    memory = driver_memory(bytes);
  }
  if (!memory.ok()) return memory.failure();
  return hand_out(*add_block(*memory, bytes));
}

void MemoryPool::release_whole(PoolBlock& block, CudaStream stream) {
  bool is_ordered = true;
  for (CudaStream user : block.users) is_ordered &= events_.order(stream, user).ok();
  if (is_ordered) context_.driver->cuMemFreeAsync(block.data, stream);
  held_ -= block.bytes;
  blocks_.erase(block.data);
}

// Blocks that are parts of slabs. ----------------------------------------------------------------------------------------

Result<char*> MemoryPool::allocate_part(int64_t bytes, CudaStream stream) {
  StreamBlocks& owner = blocks_of(stream);
  if (PoolBlock* block = take_recent(bytes, owner)) return hand_out(*block);
  int kind = kind_for(bytes);
  if (!pending_.empty()) put_back_finished();
  PoolBlock* block = take_unused(bytes, kind, owner);
  if (!block && kind == 0) {
    put_back_recent(owner);
    block = take_unused(bytes, kind, owner);
  }
  if (!block) block = take_from_other_stream(bytes, kind, owner);
  if (block) return hand_out(*block);
  auto added = add_slab(bytes, kind, owner);
  if (!added.ok() && added.failure().reason == Reason::out_of_device_memory) added = reclaim(bytes, kind, owner);
  if (!added.ok()) return added.failure();
  return hand_out(**added);
}

// After all work of the device every free block may be used by any stream.
Result<PoolBlock*> MemoryPool::reclaim(int64_t bytes, int kind, StreamBlocks& owner) {
  ACCEL_CUDA(*context_.driver, cuCtxSynchronize);
  gather(owner);
  for (int i = kind; i < StreamBlocks::kinds; i++)
    if (PoolBlock* block = take_unused(bytes, i, owner)) return block;
  free_slabs();
  return add_slab(bytes, kind, owner);
}

void MemoryPool::release_part(PoolBlock& block, CudaStream stream) {
  StreamBlocks& owner = *block.owner;
  if (stream == owner.stream && stream != nullptr) {
    if (!owner.released) {
      auto event = events_.record(stream);
      if (event.ok()) owner.released = *event;
      owner.is_covered = event.ok();
    } else {
      owner.is_covered = context_.driver->cuEventRecord(owner.released, stream) == 0;
    }
  }
  if (stream != owner.stream) {
    owner.is_covered = false;  // its stream may be destroyed by now, so that no event can be recorded there
    if (std::find(block.users.begin(), block.users.end(), stream) == block.users.end()) block.users.push_back(stream);
  }
  if (!block.users.empty()) {
    Pending waits{&block, {}};
    for (CudaStream user : block.users)
      if (auto event = events_.record(user); event.ok()) waits.events.push_back(*event);
    block.users.clear();
    block.state = PoolBlock::pending;
    pending_.push_back(std::move(waits));
  } else if (is_recent_size(block.bytes)) {
    PoolBlock*& first = owner.recent[size_index(block.bytes)];
    block.next_recent = first;
    block.state = PoolBlock::recent;
    first = &block;
  } else {
    put_back(block);
  }
}

StreamBlocks& MemoryPool::blocks_of(CudaStream stream) {
  if (last_stream_ && last_stream_->stream == stream) return *last_stream_;
  auto& blocks = streams_[stream];
  if (!blocks) {
    blocks = std::make_unique<StreamBlocks>();
    blocks->stream = stream;
  }
  return *(last_stream_ = blocks.get());
}

PoolBlock* MemoryPool::take_recent(int64_t bytes, StreamBlocks& owner) {
  if (!is_recent_size(bytes)) return nullptr;
  PoolBlock*& first = owner.recent[size_index(bytes)];
  PoolBlock* block = first;
  if (block) first = block->next_recent;
  return block;
}

// The smallest block that fits.
PoolBlock* MemoryPool::take_unused(int64_t bytes, int kind, StreamBlocks& owner) {
  auto& unused = owner.unused[kind];
  PoolBlock wanted;
  wanted.bytes = bytes;
  auto at = unused.lower_bound(&wanted);
  if (at == unused.end()) return nullptr;
  PoolBlock* block = *at;
  unused.erase(at);
  cut(*block, bytes);
  return block;
}

// A block of a stream whose work with it is done.
PoolBlock* MemoryPool::take_from_other_stream(int64_t bytes, int kind, StreamBlocks& owner) {
  for (auto& [stream, other] : streams_) {
    if (other.get() == &owner || !other->is_covered || other->unused[kind].empty()) continue;
    if (context_.driver->cuEventQuery(other->released) != 0) continue;
    PoolBlock* block = take_unused(bytes, kind, *other);
    if (!block) continue;
    block->owner = &owner;
    return block;
  }
  return nullptr;
}

Result<PoolBlock*> MemoryPool::add_slab(int64_t bytes, int kind, StreamBlocks& owner) {
  int64_t slab_bytes = round_up_to(bytes, slab_kinds[kind].slab_bytes);
  auto memory = driver_memory(slab_bytes);
  if (!memory.ok() && memory.failure().reason == Reason::out_of_device_memory && slab_bytes != bytes)
    memory = driver_memory(slab_bytes = bytes);
  if (!memory.ok()) return memory.failure();
  PoolBlock* block = add_block(*memory, slab_bytes);
  block->kind = kind;
  block->owner = &owner;
  cut(*block, bytes);
  return block;
}

Result<char*> MemoryPool::driver_memory(int64_t bytes) {
  if (limit_ > 0 && held_ + bytes > limit_)
    return fail(Reason::out_of_device_memory, "the limit of " + std::to_string(limit_) + " bytes leaves no room for " +
                                                  std::to_string(bytes) + " bytes; " + std::to_string(used_) + " are in use");
  char* memory = nullptr;
  if (int result = context_.driver->cuMemAlloc(&memory, static_cast<size_t>(bytes))) {
    Failure failure = cuda_failure("cuMemAlloc", result);
    failure.detail += " for " + std::to_string(bytes) + " bytes; accel uses " + std::to_string(used_);
    return failure;
  }
  held_ += bytes;
  return memory;
}

char* MemoryPool::hand_out(PoolBlock& block) {
  block.state = PoolBlock::live;
  used_ += block.bytes;
  peak_ = std::max(peak_, used_);
  return block.data;
}

// Cutting and joining. ---------------------------------------------------------------------------------------------------

PoolBlock* MemoryPool::add_block(char* data, int64_t bytes) {
  auto& block = blocks_[data] = std::make_unique<PoolBlock>();
  block->data = data;
  block->bytes = bytes;
  return block.get();
}

// Leaves `bytes` of a block and makes the rest an unused one, if it is worth it.
void MemoryPool::cut(PoolBlock& block, int64_t bytes) {
  if (block.bytes - bytes < slab_kinds[block.kind].rest) return;
  PoolBlock& rest = *add_block(block.data + bytes, block.bytes - bytes);
  block.bytes = bytes;
  rest.kind = block.kind;
  rest.owner = block.owner;
  rest.before = &block;
  rest.after = block.after;
  if (rest.after) rest.after->before = &rest;
  block.after = &rest;
  rest.state = PoolBlock::unused;
  rest.owner->unused[rest.kind].insert(&rest);
}

// Makes a block unused, joined with unused neighbours of the same stream.
void MemoryPool::put_back(PoolBlock& block) {
  PoolBlock* first = &block;
  block.state = PoolBlock::unused;
  join_with_next(block);
  if (PoolBlock* before = block.before; before && before->state == PoolBlock::unused && before->owner == block.owner) {
    before->owner->unused[before->kind].erase(before);
    join_with_next(*before);
    first = before;
  }
  first->owner->unused[first->kind].insert(first);
}

// Requires that the block itself is not among the unused ones of its stream at the moment.
void MemoryPool::join_with_next(PoolBlock& block) {
  PoolBlock* next = block.after;
  if (!next || next->state != PoolBlock::unused || next->owner != block.owner) return;
  next->owner->unused[next->kind].erase(next);  // not there when it is the block that is being put back
  block.bytes += next->bytes;
  block.after = next->after;
  if (block.after) block.after->before = &block;
  blocks_.erase(next->data);
}

void MemoryPool::put_back_recent(StreamBlocks& owner) {
  for (PoolBlock*& first : owner.recent)
    while (PoolBlock* block = first) {
      first = block->next_recent;
      put_back(*block);
    }
}

// Blocks whose events are complete become unused.
void MemoryPool::put_back_finished() {
  size_t unfinished = 0, i = 0;
  while (i < pending_.size() && unfinished < most_queries) {
    Pending& waits = pending_[i];
    while (!waits.events.empty() && context_.driver->cuEventQuery(waits.events.back()) == 0) {
      events_.give_back(waits.events.back());
      waits.events.pop_back();
    }
    if (!waits.events.empty()) {
      unfinished++;
      i++;
      continue;
    }
    put_back(*waits.block);
    pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// All free blocks become unused ones of `owner`. Requires that the device has no work.
void MemoryPool::gather(StreamBlocks& owner) {
  for (auto& waits : pending_) {
    for (CudaEvent event : waits.events) events_.give_back(event);
    put_back(*waits.block);
  }
  pending_.clear();
  for (auto& [stream, other] : streams_) {
    put_back_recent(*other);
    if (other.get() == &owner) continue;
    for (auto& unused : other->unused)
      while (!unused.empty()) {
        PoolBlock* block = *unused.begin();
        unused.erase(unused.begin());
        block->owner = &owner;
        put_back(*block);
      }
  }
}

void MemoryPool::free_slabs() {
  for (auto& [stream, blocks] : streams_)
    for (auto& unused : blocks->unused)
      for (auto at = unused.begin(); at != unused.end();) {
        PoolBlock* block = *at;
        bool is_slab = !block->before && !block->after;
        at = is_slab ? unused.erase(at) : std::next(at);
        if (!is_slab) continue;
        context_.driver->cuMemFree(block->data);
        held_ -= block->bytes;
        blocks_.erase(block->data);
      }
}

}  // namespace accel
