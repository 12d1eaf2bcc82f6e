#pragma once
// What a LaunchScope has collected: launches that its stream has not been given yet, and memory that they may use and that has
// been released since.

#include <atomic>
#include <optional>

#include "runtime/cuda/graphs/launch_graphs.h"
#include "runtime/cuda/memory_pool.h"

namespace accel {

struct LaunchCounters {
  std::atomic<int64_t> launches{0}, graphs{0}, graph_launches{0};
};

// Used by one thread. Functions that give the stream work require that the context is current.
class LaunchBatch {
 public:
  // Where launches go. All outlives the batch's use.
  struct Target {
    const CudaContext* context = nullptr;
    MemoryPool* pool = nullptr;
    LaunchCounters* counters = nullptr;
    LaunchGraphs* graphs = nullptr;
    CudaStream stream = nullptr;
  };

  // A batch that collects for `target`. A thread uses a batch that it has given back again.
  static std::unique_ptr<LaunchBatch> take(const Target& target);
  static void give_back(std::unique_ptr<LaunchBatch> batch);

  CudaStream stream() const { return target_.stream; }
  bool has_launches() const { return list_.size() > 0; }

  // Submits the launches first where there are many.
  Status add(CudaFunction function, const ParameterLayout& layout, const LaunchShape& shape, void* const* arguments);
  // Gives the stream all launches and the pool all memory. The first failure is that of all later calls, too.
  Status submit();

  // Memory whose release is deferred, for another use by later launches; null: none has about this size.
  char* reuse_deferred(int64_t bytes);
  // Releases memory to the pool when the launches, which may use it, are submitted.
  void defer_release(char* memory);
  bool has_deferred() const { return !deferred_.empty(); }
  bool defers_much() const;

 private:
  struct Deferred {
    char* memory = nullptr;
    int64_t bytes = 0;  // 0: may be used again only as the pool says
  };

  void give_to_stream();
  void release_deferred();

  static std::vector<std::unique_ptr<LaunchBatch>>& unused();

  Target target_;
  LaunchList list_;
  std::vector<Deferred> deferred_;
  int64_t deferred_bytes_ = 0;
  std::optional<Failure> failure_;
};

}  // namespace accel
