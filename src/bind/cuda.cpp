// NVIDIA's libraries and devices, for the doctor; device code by itself, for tests.

#include "bind/bind.h"
#include "bind/convert.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/libraries/blas.h"
#include "runtime/cuda/libraries/fourier.h"
#include "runtime/cuda/libraries/solver.h"
#include "toolchain/cuda/libraries.h"
#include "toolchain/device_code.h"

namespace accel {
namespace {

using Strings = std::vector<std::string>;

Strings find_library_folders() { return call_for_texts("accel._cuda", "library_folders"); }

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

py::dict library_record(Result<MathLibraryInfo>& found) {
  py::dict record;
  add(record, found.ok() ? Finding{} : finding_of(found.failure()));
  record["path"] = found.ok() ? found->path : "";
  record["version"] = found.ok() ? std::to_string(found->major) + "." + std::to_string(found->minor) : "";
  return record;
}

// The driver, its devices, its libraries.
py::dict examine_cuda() {
  Result<int> version = fail(Reason::internal_error, {}), count = version;
  Result<MathLibraryInfo> cublas = version.failure(), cusolver = cublas, cufft = cublas;
  {
    py::gil_scoped_release unlocked;
    version = cuda_driver_version();
    count = CudaDevice::count();
    cublas = find_cublas();
    cusolver = find_cusolver();
    cufft = find_cufft();
  }
  py::dict record;
  add(record, !version.ok() ? finding_of(version.failure()) : !count.ok() ? finding_of(count.failure()) : Finding{});
  record["driver"] = version.ok() ? *version : 0;
  py::list devices;
  for (int i = 0; count.ok() && i < *count; i++) devices.append(device_record(i));
  record["devices"] = devices;
  record["libraries"] = py::dict(py::arg("cuBLAS") = library_record(cublas), py::arg("cuSOLVER") = library_record(cusolver),
                                 py::arg("cuFFT") = library_record(cufft));
  return record;
}

// An array copied to device 0: all bytes between its first and its last element.
class Copied {
 public:
  explicit Copied(const py::buffer& array) : info(array.request()) {
    for (size_t i = 0; i < info.shape.size(); i++) {
      const py::ssize_t reach = (info.shape[i] - 1) * info.strides[i];
      (reach < 0 ? low_ : bytes_) += reach;
    }
    bytes_ += info.itemsize - low_;
  }

  Status upload(CudaDevice& device) {
    if (info.size == 0) return Unit{};
    ACCEL_TRY(block_, new_device_block(device, bytes_));
    return device.upload(block_->data, host(), bytes_);
  }
  Status download() { return block_ ? block_->device->download(host(), block_->data, bytes_) : Unit{}; }
  char* data() const { return block_ ? block_->data - low_ : nullptr; }

  py::buffer_info info;

 private:
  char* host() const { return static_cast<char*>(info.ptr) + low_; }

  py::ssize_t low_ = 0, bytes_ = 0;
  std::shared_ptr<DeviceBlock> block_;
};

Status multiply(Op op, DType dtype, std::vector<Copied>& operands) {
  ACCEL_TRY(CudaDevice * device, CudaDevice::open(0));
  std::vector<char*> pointers;
  std::vector<intptr_t> dims{operands[2].info.shape[0]}, strides;
  for (Copied& operand : operands) {
    ACCEL_TRY([[maybe_unused]] Unit done, operand.upload(*device));
    pointers.push_back(operand.data());
    strides.push_back(operand.info.strides[0]);
  }
  for (Copied& operand : operands) strides.insert(strides.end(), operand.info.strides.begin() + 1, operand.info.strides.end());
  const auto &first = operands[0].info.shape, &second = operands[1].info.shape;
  dims.insert(dims.end(), first.begin() + 1, first.end());
  if (second.size() == 3) dims.push_back(second[2]);
  ACCEL_TRY([[maybe_unused]] Unit done, call_blas(*device, op, dtype, pointers.data(), dims.data(), strides.data()));
  return operands[2].download();
}

// A product of arrays with one outer dimension each, on device 0; the last array receives it. The reason's code when it fails;
// for tests.
std::string multiply_on_device(const std::string& op, const std::string& dtype, const std::vector<py::buffer>& arrays) {
  std::vector<Copied> operands;
  for (const py::buffer& array : arrays) operands.emplace_back(array);
  Status done = multiply(*op_from_name(op), *dtype_from_name(dtype), operands);
  return done.ok() ? "" : reason_info(done.failure().reason).code;
}

}  // namespace

void bind_cuda(py::module_& module) {
  set_cuda_library_finder(find_library_folders);
  module.def("set_cuda_library_folders", set_cuda_library_folders);
  module.def("compile_device_code", device_code);
  module.def("examine_cuda", examine_cuda);
  module.def("call_blas", multiply_on_device);
}

}  // namespace accel
