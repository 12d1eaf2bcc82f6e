#include "dispatch/launch/library/device_forms.h"

#include <variant>

#include "dispatch/launch/library/device_counts.h"
#include "dispatch/launch/library/device_fourier.h"
#include "dispatch/launch/library/device_searches.h"
#include "dispatch/launch/library/device_sorts.h"

namespace accel {
namespace {

struct FormRun {
  CudaDevice& device;
  const BoxedCall& call;
  std::span<const FormOperand> operands;

  using Made = Result<std::optional<DeviceResult>>;
  Made operator()(std::monostate) const { return std::optional<DeviceResult>(); }
  Made operator()(const SortForm& form) const { return sort_on_device(device, form, operands[0], call.results[0]); }
  Made operator()(const SearchForm& form) const { return search_on_device(device, form, operands); }
  Made operator()(const CountForm& form) const { return count_on_device(device, form, operands); }
  Made operator()(const FourierForm& form) const { return transform_on_device(device, form, operands, call.results[0]); }
};

}  // namespace

std::vector<FormOperand> form_operands(const BoxedCall& call, const void* const* operands, const int64_t* dims) {
  size_t axes = 0, at = 0;
  for (const Type& type : call.operands) axes += static_cast<size_t>(type.rank());
  std::vector<FormOperand> out;
  for (size_t k = 0; k < call.operands.size(); ++k) {
    const auto rank = static_cast<size_t>(call.operands[k].rank());
    char* const data = static_cast<char*>(const_cast<void*>(operands[k]));
    out.push_back({&call.operands[k], data, {dims + at, rank}, {dims + axes + at, rank}});
    at += rank;
  }
  return out;
}

Result<std::optional<DeviceResult>> run_form(CudaDevice& device, const BoxedCall& call, std::span<const FormOperand> operands) {
  return std::visit(FormRun{device, call, operands}, call.device_form);
}

}  // namespace accel
