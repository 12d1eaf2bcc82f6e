#pragma once
// The user's options for one compiled function.

#include <cstdint>
#include <string>

#include "base/settings.h"
#include "cpython/py_ref.h"
#include "dispatch/versions/device_choice.h"
#include "dispatch/versions/stance.h"

namespace accel {

struct DispatchOptions {
  bool fullgraph = false;
  bool disable = false;
  bool fixed_sizes = false;      // each version is for one size of each array
  bool reduce_overhead = false;  // launches on a device are given to it as CUDA graphs
  PyRef backend;                 // null: native; else called as described in PythonKernel
  std::string backend_name = "native";
  int device = no_choice;     // device_choice.h
  int64_t most_versions = 0;  // 0: the setting recompile_limit

  int64_t version_limit() const { return most_versions > 0 ? most_versions : settings().recompile_limit.get(); }

  // Whether calls must be compiled as a whole. A call may still leave for errors, warnings and failed checks, unless the stance
  // refuses fallbacks.
  bool must_be_full() const { return fullgraph || refuses_fallbacks(); }
};

}  // namespace accel
