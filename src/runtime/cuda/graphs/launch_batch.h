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

  // One that collects for `target`; `give_back` makes it ready for the thread's next one.
  static std::unique_ptr<LaunchBatch> take(const Target& target);
  static void give_back(std::unique_ptr<LaunchBatch> batch);

  CudaStream stream() const { return target_.stream; }
  bool has_launches() const { return list_.size() > 0; }

  // Submits the launches first where there are many.
  Status add(CudaFunction function, const ParameterLayout& layout, const LaunchShape& shape, void* const* arguments);
  // Gives the stream all launches and the pool all memory. The first failure is that of all later calls, too.
  Status submit();

  // Memory that has been released; null: there is none of about this size.
  char* take_kept(int64_t bytes);
  // Keeps memory until the launches are submitted.
  void keep(char* memory);
  bool keeps_any() const { return !kept_.empty(); }
  bool keeps_much() const;

 private:
  struct Kept {
    char* memory = nullptr;
    int64_t bytes = 0;  // 0: may be used again only as the pool says
  };

  void give_to_stream();
  void release_kept();

  static std::vector<std::unique_ptr<LaunchBatch>>& unused();

  Target target_;
  LaunchList list_;
  std::vector<Kept> kept_;
  int64_t kept_bytes_ = 0;
  std::optional<Failure> failure_;
};

}  // namespace accel
