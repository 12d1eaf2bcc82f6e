#include "codegen/emit/device/device_nests.h"

#include <algorithm>

#include "codegen/emit/device/device_function.h"
#include "codegen/emit/functions/kernel_function.h"

namespace accel {

namespace {

std::string with_name(std::string text, const std::string& name) {
  for (size_t at = text.find('$'); at != text.npos; at = text.find('$', at + name.size())) text.replace(at, 1, name);
  return text;
}

}  // namespace

Result<NestFunctions> DeviceNests::add_copy(Code& host, Copy& copy) {
  NestFunctions functions;
  for (size_t k = 0; k < program_.nests.size(); ++k) {
    std::vector<NestFunction>& own = functions.emplace_back();
    for (const Variant& variant : program_.variants) {
      if (std::count(variant.nests.begin(), variant.nests.end(), static_cast<int>(k)) == 0) continue;
      Copy fixed = copy;
      fixed.fixed.insert(variant.fixed.begin(), variant.fixed.end());
      ACCEL_TRY(NestFunction function, function_of(host, k, fixed));
      function.fixed = variant.fixed;
      own.push_back(std::move(function));
    }
    ACCEL_TRY(own.emplace_back(), function_of(host, k, copy));
  }
  return functions;
}

Result<NestFunction> DeviceNests::function_of(Code& host, size_t k, Copy& copy) {
  if (program_.nests[k].mapping == Mapping::library) return library_calls(host, k, copy);
  DeviceFunction function(copy, program_.nests[k], hints_);
  ACCEL_TRY([[maybe_unused]] Unit written, function.write());
  const std::string text = function.device_text();
  auto [name, is_new] =
      names_.try_emplace(with_numbered_names(cat(text, function.host_text(0))), cat("nest", static_cast<long>(names_.size())));
  if (is_new) {
    device_.raw(with_name(text, name->second));
    host.raw(with_name(function.host_text(static_cast<int>(kernels_.size())), name->second));
    for (size_t n = 0; n < function.kernels().size(); ++n) {
      const bool is_likely = function.kernels()[n].is_likely;
      (is_likely ? likely_ : others_).raw(with_name(function.kernel_text(n), name->second));
      kernels_.push_back({cat(name->second, "_", static_cast<long>(n)), is_likely, function.parameter_buffers(n)});
    }
  }
  return NestFunction{name->second, function.buffers(), {}, true, function.dims()};
}

Result<NestFunction> DeviceNests::library_calls(Code& host, size_t k, Copy& copy) {
  KernelFunction function(copy, program_.nests[k], "$");
  ACCEL_TRY(std::string text, function.write_nest());
  auto [name, is_new] = names_.try_emplace(text, cat("nest", static_cast<long>(names_.size())));
  if (is_new) host.raw(with_name(text, name->second));
  return NestFunction{name->second, function.body_buffers(), {}, false, {}};
}

}  // namespace accel
