#include "runtime/cuda/graphs/launch_list.h"

#include <algorithm>
#include <cstring>

namespace accel {
namespace {

constexpr int no_such_parameter = 1;  // CUDA_ERROR_INVALID_VALUE
constexpr size_t alignment = 16;

}  // namespace

Result<ParameterLayout> read_layout(const CudaDriver& driver, CudaFunction function) {
  ParameterLayout layout;
  while (true) {
    ParameterLayout::Parameter parameter;
    const int result = driver.cuFuncGetParamInfo(function, layout.parameters.size(), &parameter.offset, &parameter.bytes);
    if (result == no_such_parameter) break;
    if (result != 0) return cuda_failure("cuFuncGetParamInfo", result);
    layout.bytes = std::max(layout.bytes, parameter.offset + parameter.bytes);
    layout.parameters.push_back(parameter);
  }
  layout.bytes = (layout.bytes + alignment - 1) / alignment * alignment;
  return layout;
}

void LaunchList::add(CudaFunction function, const ParameterLayout& layout, const LaunchShape& shape, void* const* arguments) {
  const size_t begin = values_.size();
  values_.resize(begin + layout.bytes);
  for (size_t k = 0; k < layout.parameters.size(); ++k)
    std::memcpy(values_.data() + begin + layout.parameters[k].offset, arguments[k], layout.parameters[k].bytes);
  launches_.push_back({function, &layout, shape, begin});
  hash_ = (hash_ ^ reinterpret_cast<uintptr_t>(function)) * 0x9e3779b97f4a7c15;
}

void LaunchList::clear() {
  launches_.clear();
  values_.clear();
  hash_ = 0;
}

bool LaunchList::has_kernels_of(const LaunchList& other) const {
  return hash_ == other.hash_ &&
         std::equal(launches_.begin(), launches_.end(), other.launches_.begin(), other.launches_.end(),
                    [](const Launch& a, const Launch& b) { return a.function == b.function && a.layout == b.layout; });
}

bool LaunchList::is_same(size_t number, const LaunchList& other) const {
  const Launch &a = launches_[number], &b = other.launches_[number];
  return a.shape == b.shape && std::memcmp(values_.data() + a.values, other.values_.data() + b.values, a.layout->bytes) == 0;
}

CudaKernelNode LaunchList::node(size_t number) {
  const Launch& launch = launches_[number];
  pointers_.clear();
  for (const ParameterLayout::Parameter& parameter : launch.layout->parameters)
    pointers_.push_back(values_.data() + launch.values + parameter.offset);
  CudaKernelNode made;
  made.function = launch.function;
  made.grid_x = static_cast<unsigned>(launch.shape.blocks);
  made.block_x = static_cast<unsigned>(launch.shape.threads);
  made.shared_bytes = static_cast<unsigned>(launch.shape.shared_bytes);
  made.arguments = pointers_.data();
  return made;
}

Status LaunchList::launch(const CudaDriver& driver, CudaStream stream) {
  for (size_t k = 0; k < size(); ++k) {
    const CudaKernelNode l = node(k);
    ACCEL_CUDA(driver, cuLaunchKernel, l.function, l.grid_x, l.grid_y, l.grid_z, l.block_x, l.block_y, l.block_z,
               l.shared_bytes, stream, l.arguments, nullptr);
  }
  return Unit{};
}

}  // namespace accel
