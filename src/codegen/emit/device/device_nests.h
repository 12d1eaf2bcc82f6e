#pragma once
// DeviceNests: the functions of a program's nests when a device runs them: kernels, and functions of the host that launch them.
// Nests whose texts differ in names alone share them.

#include <map>
#include <string>
#include <vector>

#include "codegen/emit/code.h"
#include "codegen/emit/functions/nest_texts.h"
#include "codegen/kernel_source.h"

namespace accel {

class DeviceNests {
 public:
  // `hints`: values of symbols at capture.
  DeviceNests(const Program& program, const std::vector<int64_t>& hints) : program_(program), hints_(hints) {}

  // Adds the functions of the host of a copy to `host`, and the kernels to the text for the device.
  Result<NestFunctions> add_copy(Code& host, Copy& copy);

  // The functions that kernels call; then the kernels that arrays of the sizes at capture need, and the others.
  const std::string& device_text() const { return device_.text(); }
  const std::string& likely_kernels() const { return likely_.text(); }
  const std::string& other_kernels() const { return others_.text(); }
  const std::vector<KernelName>& kernels() const { return kernels_; }  // by number

 private:
  Result<NestFunction> function_of(Code& host, size_t k, Copy& copy);
  Result<NestFunction> library_calls(Code& host, size_t k, Copy& copy);

  const Program& program_;
  const std::vector<int64_t>& hints_;
  Code device_, likely_, others_;
  std::vector<KernelName> kernels_;
  std::map<std::string, std::string> names_;  // of functions, by text
};

}  // namespace accel
