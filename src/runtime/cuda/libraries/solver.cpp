#include "runtime/cuda/libraries/solver.h"

#include <string>

#include "runtime/cuda/context.h"

namespace accel {

// The functions of solver.inc, in its order.
struct CusolverFunctions {
#define CUSOLVER_FUNCTION(result, name, symbol, parameters) result(*name) parameters;
#include "runtime/cuda/libraries/solver.inc"
};

namespace {

// cuSOLVER is linked with the libraries `needed`; those of the packages are in one folder, those for CUDA 12 in several.
const CudaLibraryNames cusolver_names{
    {"libcusolver.so.12", "libcusolver.so.11"},
    {"libnvJitLink.so.*", "libcublasLt.so.*", "libcublas.so.*", "libcusparse.so.*"},
};

constexpr int cusolver_no_memory = 2;  // CUSOLVER_STATUS_ALLOC_FAILED
constexpr int not_transposed = 0;      // CUBLAS_OP_N
constexpr int lower_triangle = 0;      // CUBLAS_FILL_MODE_LOWER

MathLibrary<CusolverFunctions>& cusolver() {
  static auto* library = new MathLibrary<CusolverFunctions>(cusolver_names, {
#define CUSOLVER_FUNCTION(result, name, symbol, parameters) #symbol,
#include "runtime/cuda/libraries/solver.inc"
                                                                            });
  return *library;
}

Status check_cusolver(int status, const char* what) {
  return check_library_call(std::string("cuSOLVER: ") + what, status, cusolver_no_memory);
}

}  // namespace

Status Cusolver::begin() {
  void*& handle = cusolver().handle(device_.number());
  if (handle == nullptr) {
    void* made = nullptr;
    ACCEL_TRY([[maybe_unused]] Unit done, check_cusolver(call_.create(&made), "create"));
    handle = made;
  }
  handle_ = handle;
  static void* options = nullptr;  // those of the library; belong to no device
  if (options == nullptr) {
    ACCEL_TRY([[maybe_unused]] Unit done, check_cusolver(call_.create_options(&options), "options"));
  }
  options_ = options;
  return check_cusolver(call_.set_stream(handle_, device_.stream()), "stream");
}

Status Cusolver::Memory::take(CudaDevice& device) {
  on_host.resize(host_bytes);
  ACCEL_TRY(on_device, new_device_block(device, static_cast<int64_t>(device_bytes)));
  return Unit{};
}

Status Cusolver::factor_lu(DType dtype, int64_t n, char* matrix, char* pivots, char* info) {
  const int type = cuda_data_type(dtype);
  Memory& memory = memories_.emplace_back();
  ACCEL_TRY(Unit done, check_cusolver(call_.getrf_bytes(handle_, options_, n, n, type, matrix, n, type, &memory.device_bytes,
                                                        &memory.host_bytes),
                                      "getrf"));
  ACCEL_TRY(done, memory.take(device_));
  return check_cusolver(
      call_.getrf(handle_, options_, n, n, type, matrix, n, reinterpret_cast<int64_t*>(pivots), type, memory.on_device->data,
                  memory.device_bytes, memory.on_host.data(), memory.host_bytes, reinterpret_cast<int*>(info)),
      "getrf");
}

Status Cusolver::solve_lu(DType dtype, int64_t n, int64_t columns, const char* factors, const char* pivots, char* right,
                          char* info) {
  const int type = cuda_data_type(dtype);
  return check_cusolver(call_.getrs(handle_, options_, not_transposed, n, columns, type, factors, n,
                                    reinterpret_cast<const int64_t*>(pivots), type, right, n, reinterpret_cast<int*>(info)),
                        "getrs");
}

Status Cusolver::factor_cholesky(DType dtype, int64_t n, char* matrix, char* info) {
  const int type = cuda_data_type(dtype);
  Memory& memory = memories_.emplace_back();
  ACCEL_TRY(Unit done, check_cusolver(call_.potrf_bytes(handle_, options_, lower_triangle, n, type, matrix, n, type,
                                                        &memory.device_bytes, &memory.host_bytes),
                                      "potrf"));
  ACCEL_TRY(done, memory.take(device_));
  return check_cusolver(
      call_.potrf(handle_, options_, lower_triangle, n, type, matrix, n, type, memory.on_device->data, memory.device_bytes,
                  memory.on_host.data(), memory.host_bytes, reinterpret_cast<int*>(info)),
      "potrf");
}

Result<MathLibraryInfo> find_cusolver() { return cusolver().info(); }

Status call_cusolver(CudaDevice& device, const std::function<Status(Cusolver&)>& work) {
  ACCEL_TRY(const CusolverFunctions* functions, cusolver().functions());
  std::lock_guard lock(cusolver().mutex());
  ActiveContext active(device.context());
  if (!active.ok()) return active.failure();
  const LaunchScope by_library(device, nullptr);
  Cusolver solver(device, *functions);
  ACCEL_TRY([[maybe_unused]] Unit done, solver.begin());
  const Status worked = work(solver);
  const Status waited = device.wait();
  return worked.ok() ? waited : worked;
}

}  // namespace accel
