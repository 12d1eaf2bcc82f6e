#pragma once
// DeviceNests: the functions of a program's nests when a device runs them: kernels, and functions of the host that launch them.
// Nests whose texts differ in names alone share them.

#include <map>
#include <string>
#include <vector>

#include "codegen/emit/code.h"
#include "codegen/emit/functions/nest_texts.h"

namespace accel {

class DeviceNests {
 public:
  explicit DeviceNests(const Program& program) : program_(program) {}

  // Adds the functions of the host of a copy to `host`, and the kernels to the text for the device.
  Result<NestFunctions> add_copy(Code& host, Copy& copy);

  const std::string& device_text() const { return device_.text(); }
  const std::vector<std::string>& kernels() const { return kernels_; }  // their names, by number

 private:
  Result<NestFunction> function_of(Code& host, size_t k, Copy& copy);
  Result<NestFunction> library_calls(Code& host, size_t k, Copy& copy);

  const Program& program_;
  Code device_;
  std::vector<std::string> kernels_;
  std::map<std::string, std::string> names_;  // of functions, by text
};

}  // namespace accel
