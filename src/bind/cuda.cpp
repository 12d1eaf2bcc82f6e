// NVIDIA's libraries and devices, for the doctor; device code by itself, for tests.

#include "bind/bind.h"
#include "bind/convert.h"
#include "runtime/cuda/blas.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/driver.h"
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

struct Finding {
  std::string problem, way_out;
  bool is_absent = false;  // there is nothing rather than something that does not work
};

Finding finding_of(const Failure& failure) {
  const ReasonInfo& info = reason_info(failure.reason);
  return {std::string(info.what) + ": " + failure.detail, info.way_out,
          failure.reason == Reason::no_cuda_driver || failure.reason == Reason::no_cuda_device};
}

void add(py::dict& record, const Finding& finding) {
  record["problem"] = finding.problem;
  record["way_out"] = finding.way_out;
  record["absent"] = finding.is_absent;
}

// Opens the device: its name is known only then.
py::dict device_record(int number) {
  Result<CudaDevice*> device = fail(Reason::internal_error, {});
  DeviceMemoryInfo memory;
  {
    py::gil_scoped_release unlocked;
    device = CudaDevice::open(number);
    if (device.ok()) memory = (*device)->memory_info();
  }
  py::dict record;
  add(record, device.ok() ? Finding{} : finding_of(device.failure()));
  if (!device.ok()) return record;
  record["name"] = (*device)->name();
  record["architecture"] = (*device)->architecture();
  record["processors"] = (*device)->processors();
  record["free_bytes"] = memory.free;
  record["total_bytes"] = memory.total;
  return record;
}

// The driver, its devices, cuBLAS.
py::dict examine_cuda() {
  Result<int> version = fail(Reason::internal_error, {}), count = version;
  Result<CublasInfo> cublas = version.failure();
  {
    py::gil_scoped_release unlocked;
    version = cuda_driver_version();
    count = CudaDevice::count();
    cublas = find_cublas();
  }
  py::dict record, library;
  add(record, !version.ok() ? finding_of(version.failure()) : !count.ok() ? finding_of(count.failure()) : Finding{});
  record["driver"] = version.ok() ? *version : 0;
  py::list devices;
  for (int i = 0; count.ok() && i < *count; i++) devices.append(device_record(i));
  record["devices"] = devices;
  add(library, cublas.ok() ? Finding{} : finding_of(cublas.failure()));
  library["path"] = cublas.ok() ? cublas->path : "";
  library["version"] = cublas.ok() ? std::to_string(cublas->major) + "." + std::to_string(cublas->minor) : "";
  record["cublas"] = library;
  return record;
}

}  // namespace

void bind_cuda(py::module_& module) {
  set_cuda_library_finder(find_library_folders);
  module.def("set_cuda_library_folders", set_cuda_library_folders);
  module.def("compile_device_code", device_code);
  module.def("examine_cuda", examine_cuda);
}

}  // namespace accel
