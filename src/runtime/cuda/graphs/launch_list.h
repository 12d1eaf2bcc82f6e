#pragma once
// Launches of kernels with the values of their parameters, in the order of a stream.

#include <cstdint>
#include <vector>

#include "runtime/cuda/driver.h"

namespace accel {

// Where the parameters of a kernel lie, one beside the other.
struct ParameterLayout {
  struct Parameter {
    size_t offset = 0, bytes = 0;
  };
  std::vector<Parameter> parameters;
  size_t bytes = 0;
};
// Requires that the context is current, and CudaDriver::has_graphs.
Result<ParameterLayout> read_layout(const CudaDriver& driver, CudaFunction function);

class LaunchList {
 public:
  // `layout` outlives the list; the values are copied.
  void add(CudaFunction function, const ParameterLayout& layout, const LaunchShape& shape, void* const* arguments);
  void clear();

  size_t size() const { return launches_.size(); }
  // Of the kernels and their order, not of parameters and grids.
  uint64_t hash() const { return hash_; }
  bool has_kernels_of(const LaunchList& other) const;
  // Whether launch `number` of both lists, which have the same kernels, is the same.
  bool is_same(size_t number, const LaunchList& other) const;
  // Launch `number` for the driver, until the next call.
  CudaKernelNode node(size_t number);

  // Gives the stream one launch after the other. Requires that the context is current.
  Status launch(const CudaDriver& driver, CudaStream stream);

 private:
  struct Launch {
    CudaFunction function = nullptr;
    const ParameterLayout* layout = nullptr;
    LaunchShape shape;
    size_t values = 0;  // where they begin
  };

  std::vector<Launch> launches_;
  std::vector<char> values_;  // bytes between parameters are 0
  std::vector<void*> pointers_;
  uint64_t hash_ = 0;
};

}  // namespace accel
