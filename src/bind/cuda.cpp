// NVIDIA's libraries: where they are, and device code by itself.

#include "bind/bind.h"
#include "bind/convert.h"
#include "toolchain/cuda/libraries.h"
#include "toolchain/device_code.h"

namespace accel {
namespace {

using Strings = std::vector<std::string>;

// accel._cuda.library_folders(). Any thread, without the GIL. An error there means that no package is found.
Strings find_library_folders() {
  py::gil_scoped_acquire locked;
  try {
    return py::module_::import("accel._cuda").attr("library_folders")().cast<Strings>();
  } catch (const py::error_already_set&) {
    return {};
  }
}

// (bytes of the CUBIN, code of the reason, detail); for tests.
std::tuple<py::bytes, std::string, std::string> device_code(const std::string& text, int architecture) {
  std::optional<Result<std::string>> made;
  {
    py::gil_scoped_release unlocked;
    made = compile_device_code(text, architecture);
  }
  if (made->ok()) return {py::bytes(**made), "", ""};
  return {py::bytes(), reason_info(made->failure().reason).code, made->failure().detail};
}

}  // namespace

void bind_cuda(py::module_& module) {
  set_cuda_library_finder(find_library_folders);
  module.def("set_cuda_library_folders", set_cuda_library_folders);
  module.def("compile_device_code", device_code);
}

}  // namespace accel
