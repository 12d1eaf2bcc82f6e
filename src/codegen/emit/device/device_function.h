#pragma once
// DeviceFunction: the kernels of one nest, and the function of the host that launches them.
//
// The text for the device is a template: what the threads of a group do for one item, in one phase of it. Its kernels are
// instances. All that a kernel needs is a parameter: memory, dims, numbers.

#include <string>
#include <vector>

#include "codegen/emit/emission.h"
#include "codegen/emit/functions/nest_texts.h"

namespace accel {

// One instance of a nest's template.
struct DeviceKernel {
  int threads;  // of a group
  int phase;    // DeviceReductionWriter
};

class DeviceFunction {
 public:
  DeviceFunction(Copy& copy, const Nest& nest) : emission_(copy, nest, &given_) {}

  // Writes the nest; names begin with `$`.
  Status write();
  std::string device_text() const;
  const std::vector<DeviceKernel>& kernels() const { return kernels_; }
  // The function of the host: `first` is the number of the first kernel.
  std::string host_text(int first);
  std::vector<BufferId> buffers() const;
  std::vector<std::string> dims() const;

 private:
  struct Parameter {
    std::string type, name;
  };

  void take_temps();
  void find_shared();
  void write_index();
  void take_parameters();
  void choose_kernels();
  std::string longest();
  std::string shared_parameters(const char* type) const;
  void write_phases(Code& out, int first);
  void write_call(Code& out) const;

  GivenDims given_;
  Emission emission_;
  std::vector<Parameter> temps_, inputs_, parameters_;
  std::vector<DeviceKernel> kernels_;
  std::string items_ = "1", longest_ = "1";
  std::vector<std::string> chunks_;  // by shared reduction: the number of its parts, where they are chunks; else empty
};

}  // namespace accel
