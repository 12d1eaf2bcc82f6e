#pragma once
// Memory of a device, in blocks cut from slabs of the driver. A free block belongs to a stream: it may be used again at once by
// work that the stream is given later, and by another stream once an event says that the first one is done.

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

#include "runtime/cuda/context.h"

namespace accel {

struct StreamBlocks;

// Part of a slab, or a whole allocation of the driver.
struct PoolBlock {
  char* data = nullptr;
  int64_t bytes = 0;
  int kind = 0;                                   // of the slab
  StreamBlocks* owner = nullptr;                  // the stream in whose order it is; null: not of a slab
  PoolBlock *before = nullptr, *after = nullptr;  // its neighbours in the slab
  PoolBlock* next_recent = nullptr;               // of the same size, released before it
  enum State { live, recent, unused, pending } state = live;
  std::vector<CudaStream> users;  // other streams that use it
};

struct SmallerBlock {
  bool operator()(const PoolBlock* a, const PoolBlock* b) const {
    return a->bytes != b->bytes ? a->bytes < b->bytes : a->data < b->data;
  }
};

// The free blocks of a stream.
struct StreamBlocks {
  static constexpr int kinds = 3, recent_sizes = 256;
  CudaStream stream = nullptr;
  std::array<std::set<PoolBlock*, SmallerBlock>, kinds> unused;  // of each kind of slab
  std::array<PoolBlock*, recent_sizes> recent{};  // small ones by size, not joined with their neighbours, last released first
  CudaEvent released = nullptr;                   // recorded when a block was last released by the stream itself
  bool is_covered = false;                        // whether `released` comes after all use of the free blocks
};

// All functions but use, bytes_for, set_limit and the counts require that the context is current.
class MemoryPool {
 public:
  MemoryPool(const CudaContext& context, CudaEvents& events) : context_(context), events_(events) {}

  Result<char*> allocate(int64_t bytes, CudaStream stream);
  void release(char* memory, CudaStream stream);
  void use(char* memory, CudaStream stream);
  // The size of a live block that only work of this stream uses: its later work may use the block for something else. 0: none.
  int64_t bytes_for(char* memory, CudaStream stream);
  // Gives slabs without live blocks back to the driver, after all work of the device.
  void release_unused();
  void set_limit(int64_t bytes);
  // Fills the counts of this process.
  void count(DeviceMemoryInfo& info);

 private:
  struct Pending {
    PoolBlock* block;
    std::vector<CudaEvent> events;  // after which it is free
  };

  Result<char*> allocate_whole(int64_t bytes);
  Result<char*> allocate_part(int64_t bytes, CudaStream stream);
  Result<PoolBlock*> reclaim(int64_t bytes, int kind, StreamBlocks& owner);
  void release_whole(PoolBlock& block, CudaStream stream);
  void release_part(PoolBlock& block, CudaStream stream);

  StreamBlocks& blocks_of(CudaStream stream);
  PoolBlock* take_recent(int64_t bytes, StreamBlocks& owner);
  PoolBlock* take_unused(int64_t bytes, int kind, StreamBlocks& owner);
  PoolBlock* take_from_other_stream(int64_t bytes, int kind, StreamBlocks& owner);
  Result<PoolBlock*> add_slab(int64_t bytes, int kind, StreamBlocks& owner);
  Result<char*> driver_memory(int64_t bytes);
  char* hand_out(PoolBlock& block);

  PoolBlock* add_block(char* data, int64_t bytes);
  void cut(PoolBlock& block, int64_t bytes);
  void put_back(PoolBlock& block);
  void join_with_next(PoolBlock& block);
  void put_back_recent(StreamBlocks& owner);
  void put_back_finished();
  void gather(StreamBlocks& owner);
  void free_slabs();

  const CudaContext& context_;
  CudaEvents& events_;
  std::mutex mutex_;
  std::unordered_map<char*, std::unique_ptr<PoolBlock>> blocks_;
  std::unordered_map<CudaStream, std::unique_ptr<StreamBlocks>> streams_;
  StreamBlocks* last_stream_ = nullptr;
  std::vector<Pending> pending_;
  int64_t used_ = 0, peak_ = 0, held_ = 0, limit_ = 0;  // held_: bytes that the driver has given
};

}  // namespace accel
