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
  int threads;     // of a group
  int phase;       // DeviceReductionWriter
  bool caches;     // rows in shared memory
  bool is_likely;  // arrays of the sizes at capture need it
};

class DeviceFunction {
 public:
  // `hints`: values of symbols at capture.
  DeviceFunction(Copy& copy, const Nest& nest, const std::vector<int64_t>& hints)
      : emission_(copy, nest, &given_), hints_(hints) {}

  // Writes the nest; names begin with `$`.
  Status write();
  std::string device_text() const;  // without kernels
  std::string kernel_text(size_t number) const;
  const std::vector<DeviceKernel>& kernels() const { return kernels_; }
  // The function of the host: `first` is the number of the first kernel.
  std::string host_text(int first);
  std::vector<BufferId> buffers() const;
  // KernelName::buffers of a kernel.
  std::vector<BufferId> parameter_buffers(size_t number) const;
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
  std::string row_bytes();
  void write_rows();
  int64_t hint(Dim d);
  std::string shared_parameters(const char* type) const;
  std::vector<std::string> ordered_kernels() const;
  std::string head() const;
  std::string arguments() const;
  void write_phases(Code& out, int first);
  void write_call(Code& out) const;
  std::string target();

  GivenDims given_;
  Emission emission_;
  const std::vector<int64_t>& hints_;
  int64_t items_hint_ = 1, longest_hint_ = 1, row_bytes_hint_ = 0;
  bool knows_sizes_ = true;
  std::vector<Parameter> temps_, inputs_, parameters_;
  std::vector<DeviceKernel> kernels_;
  std::string target_;  // of stores in order
  std::string items_ = "1", longest_ = "1", row_bytes_ = "0";
  std::vector<std::string> chunks_;  // by shared reduction: the number of its parts, where they are chunks; else empty
};

}  // namespace accel
