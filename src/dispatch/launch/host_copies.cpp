#include "dispatch/launch/host_copies.h"

#include <algorithm>
#include <utility>

#include "device_array/device_array.h"
#include "device_array/failures.h"
#include "dispatch/signals/interrupt.h"
#include "ir/analysis/flow.h"
#include "ndarray/array.h"

namespace accel {

namespace {

// Copies begin at the same distance from such an address as the originals, so that elements are as well aligned.
constexpr uintptr_t alignment = 64;

// By array input of the graph: whether it may store to it.
std::vector<bool> stores_by_input(const Graph& graph) {
  std::vector<bool> out;
  const std::vector<int> written = written_inputs(graph);
  for (size_t k = 0; k < graph.inputs.size(); ++k)
    if (graph.inputs[k].slot < 0) out.push_back(std::ranges::binary_search(written, static_cast<int>(k)));
  return out;
}

}  // namespace

HostCopyPlan::HostCopyPlan(const Captured& captured) {
  if (captured.device >= 0) return;
  inputs.resize(static_cast<size_t>(captured.guards.input_count));
  const std::vector<bool> is_written = stores_by_input(captured.graph);
  for (const Guard& guard : captured.guards.guards) {
    if (guard.kind != GuardKind::array || guard.array.device < 0) continue;
    device = guard.array.device;
    if (guard.array.input < 0) continue;
    const size_t number = static_cast<size_t>(guard.array.input);
    inputs[number] = {guard.source, guard.array.dtype, number < is_written.size() && is_written[number]};
  }
}

bool HostCopies::download(ArgumentSpan& span) {
  const int64_t bytes = span.high - span.low, room = bytes + static_cast<int64_t>(alignment);
  PyRef memory = PyRef::steal(new_array(DType::uint8, {&room, 1}, {}));
  if (!memory) return false;
  const auto begin = reinterpret_cast<uintptr_t>(array_data(memory.get())), low = reinterpret_cast<uintptr_t>(span.low);
  span.copy = reinterpret_cast<char*>(begin + (low - begin) % alignment);
  memory_.push_back(std::move(memory));
  if (bytes == 0) return true;
  const Status status = without_gil([&] { return device_.download(span.copy, span.low, bytes); });
  if (!status.ok()) raise_device_failure(status.failure());
  return status.ok();
}

bool HostCopies::download() {
  for (const HostCopyPlan::Input& input : plan_.inputs)
    if (input.source >= 0) add_span(spans_, array_layout(binding_.sources[input.source]));
  if (!std::ranges::all_of(spans_, [&](ArgumentSpan& span) { return download(span); })) return false;
  inputs_.assign(binding_.inputs, binding_.inputs + plan_.inputs.size());
  for (size_t k = 0; k < inputs_.size(); ++k)
    if (plan_.inputs[k].source >= 0) inputs_[k] = address_in_copy(spans_, static_cast<const char*>(inputs_[k]));
  return true;
}

bool HostCopies::upload(const OutputPlan& output_plan, int exit, Outputs& outputs) {
  for (int k = output_plan.first(exit); k < output_plan.last(exit); ++k)
    if (output_plan.is_array(k) && !upload_output(outputs.arrays[k], outputs.data[k])) return false;
  for (size_t k = 0; k < inputs_.size(); ++k)
    if (plan_.inputs[k].source >= 0 && plan_.inputs[k].is_written && !upload_input(k)) return false;
  return true;
}

// Elements between those of the array keep what they have on the device.
bool HostCopies::upload_input(size_t input) {
  PyObject* array = binding_.sources[plan_.inputs[input].source];
  const ArrayLayout layout = array_layout(array);
  const std::span<const int64_t> dims(layout.dims, layout.ndim), strides(layout.strides, layout.ndim);
  PyRef copy = PyRef::steal(new_array_over(plan_.inputs[input].dtype, dims, strides, inputs_[input]));
  return copy && store_from_host(array, copy.get());
}

// Makes a DeviceArray of a result, if the kernel has made it.
bool HostCopies::upload_output(PyObject*& array, void*& data) {
  if (array == nullptr) return true;
  PyRef made = PyRef::steal(to_device(array, device_));
  if (!made) return false;
  data = array_layout(made.get()).data;
  Py_SETREF(array, made.release());
  return true;
}

}  // namespace accel
