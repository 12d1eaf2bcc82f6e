#include "runtime/cuda/libraries/blas.h"

#include <algorithm>
#include <complex>
#include <mutex>
#include <vector>

#include "runtime/cuda/context.h"
#include "runtime/cuda/libraries/math_library.h"
#include "runtime/cuda/libraries/product_plan.h"

namespace accel {
namespace {

// cuSOLVER and cuBLAS of the packages find these beside them; those of other installations may not.
const CudaLibraryNames cublas_names{{"libcublas.so.13", "libcublas.so.12"}, {"libcublasLt.so.*"}};

constexpr int default_math = 0;                         // CUBLAS_DEFAULT_MATH: full precision, also on tensor cores
constexpr int cublas_no_memory = 3;                     // CUBLAS_STATUS_ALLOC_FAILED
constexpr int64_t workspace_bytes = int64_t{32} << 20;  // what NVIDIA recommends for Hopper; less makes large products slower

using Gemm = int (*)(void* handle, int left_form, int right_form, int64_t rows, int64_t columns, int64_t depth,
                     const void* alpha, const void* left, int64_t left_step, const void* right, int64_t right_step,
                     const void* beta, void* result, int64_t result_step);
using GemmBatch = int (*)(void* handle, int left_form, int right_form, int64_t rows, int64_t columns, int64_t depth,
                          const void* alpha, const void* left, int64_t left_step, long long left_matrix, const void* right,
                          int64_t right_step, long long right_matrix, const void* beta, void* result, int64_t result_step,
                          long long result_matrix, int64_t count);

// The functions of blas.inc, in its order.
struct CublasFunctions {
#define CUBLAS_FUNCTION(result, name, symbol, parameters) result(*name) parameters;
#include "runtime/cuda/libraries/blas.inc"
#define CUBLAS_PRODUCT(dtype, symbol, batch_symbol) \
  Gemm gemm_##dtype;                                \
  GemmBatch batch_##dtype;
#include "runtime/cuda/libraries/blas.inc"
};

MathLibrary<CublasFunctions>& cublas() {
  static auto* library = new MathLibrary<CublasFunctions>(cublas_names, {
#define CUBLAS_FUNCTION(result, name, symbol, parameters) #symbol,
#include "runtime/cuda/libraries/blas.inc"
#define CUBLAS_PRODUCT(dtype, symbol, batch_symbol) #symbol, #batch_symbol,
#include "runtime/cuda/libraries/blas.inc"
                                                                        });
  return *library;
}

Status check(const CublasFunctions& call, int status, const char* what) {
  if (status == 0) return Unit{};
  return fail(status == cublas_no_memory ? Reason::out_of_device_memory : Reason::cuda_failed,
              std::string("cuBLAS: ") + what + ": " + call.status_text(status));
}

// Requires the library's mutex and the context.
Result<void*> handle_of(const CublasFunctions& call, CudaDevice& device) {
  void*& handle = cublas().handle(device.number());
  if (handle) return handle;
  void* made = nullptr;
  ACCEL_TRY(Unit done, check(call, call.create(&made), "create"));
  ACCEL_TRY(done, check(call, call.set_math_mode(made, default_math), "math mode"));
  return handle = made;
}

// Memory that one call works in. In the order of the stream, so that products of several streams do not share it; of a fixed
// size, as results may depend on it.
class Workspace {
 public:
  explicit Workspace(CudaDevice& device) : device_(device) {}
  Workspace(const Workspace&) = delete;
  ~Workspace() {
    if (memory_) device_.release(memory_);
  }
  Status take() {
    ACCEL_TRY(memory_, device_.allocate(workspace_bytes));
    return Unit{};
  }
  char* memory() const { return memory_; }

 private:
  CudaDevice& device_;
  char* memory_ = nullptr;
};

// `functions`: of the element type.
int multiply(void* handle, const ProductPlan& p, Gemm gemm, GemmBatch batch, const void* one, const void* zero,
             char* const* pointers) {
  const ProductFactor &l = p.left, &r = p.right;
  const int left_form = static_cast<int>(l.form), right_form = static_cast<int>(r.form);
  const char *left = pointers[l.operand], *right = pointers[r.operand];
  if (p.count == 1)
    return gemm(handle, left_form, right_form, p.rows, p.columns, p.depth, one, left, l.column_step, right, r.column_step, zero,
                pointers[2], p.result_column_step);
  return batch(handle, left_form, right_form, p.rows, p.columns, p.depth, one, left, l.column_step, l.matrix_step, right,
               r.column_step, r.matrix_step, zero, pointers[2], p.result_column_step, p.result_matrix_step, p.count);
}

int multiply(const CublasFunctions& call, void* handle, const ProductPlan& plan, DType dtype, char* const* pointers) {
  const std::complex<float> one_f32 = 1, zero_f32 = 0;  // a real number is the first half of a complex one
  const std::complex<double> one_f64 = 1, zero_f64 = 0;
  switch (dtype) {
    case DType::float32:
      return multiply(handle, plan, call.gemm_float32, call.batch_float32, &one_f32, &zero_f32, pointers);
    case DType::float64:
      return multiply(handle, plan, call.gemm_float64, call.batch_float64, &one_f64, &zero_f64, pointers);
    case DType::complex64:
      return multiply(handle, plan, call.gemm_complex64, call.batch_complex64, &one_f32, &zero_f32, pointers);
    default:
      return multiply(handle, plan, call.gemm_complex128, call.batch_complex128, &one_f64, &zero_f64, pointers);
  }
}

// A product of depth 0. Column by column unless the columns, or all matrices, follow each other.
Status fill_with_zeros(CudaDevice& device, const ProductPlan& plan, int64_t size, char* result) {
  const bool joined = plan.result_column_step == plan.rows || plan.columns == 1;
  const int64_t run = joined ? plan.rows * plan.columns : plan.rows, runs = joined ? 1 : plan.columns;
  const bool all = joined && (plan.count == 1 || plan.result_matrix_step == run);
  const std::vector<char> zeros(static_cast<size_t>(run * size * (all ? plan.count : 1)));
  for (int64_t matrix = 0; matrix < (all ? 1 : plan.count); matrix++)
    for (int64_t i = 0; i < runs; i++) {
      char* to = result + size * (matrix * plan.result_matrix_step + i * plan.result_column_step);
      ACCEL_TRY([[maybe_unused]] Unit done, device.upload(to, zeros.data(), static_cast<int64_t>(zeros.size())));
    }
  return Unit{};
}

}  // namespace

Result<MathLibraryInfo> find_cublas() { return cublas().info(); }

Status call_blas(CudaDevice& device, Op op, DType dtype, char* const* pointers, const intptr_t* dims, const intptr_t* strides) {
  auto plan = plan_product(op, dtype, dims, strides);
  if (!plan) return fail(Reason::unsupported_layout, "cuBLAS needs rows or columns without gaps between their elements");
  if (plan->is_empty()) return Unit{};
  if (plan->depth == 0) return fill_with_zeros(device, *plan, item_size(dtype), pointers[2]);
  ACCEL_TRY(const CublasFunctions* functions, cublas().functions());
  const CublasFunctions& call = *functions;
  Workspace workspace(device);
  ACCEL_TRY(Unit done, workspace.take());
  ActiveContext active(device.context());
  if (!active.ok()) return active.failure();
  const LaunchScope by_library(device, nullptr);
  std::lock_guard lock(cublas().mutex());
  ACCEL_TRY(void* handle, handle_of(call, device));
  ACCEL_TRY(done, check(call, call.set_stream(handle, device.stream()), "stream"));
  // After the stream: setting that one takes the workspace away.
  ACCEL_TRY(done, check(call, call.set_workspace(handle, workspace.memory(), workspace_bytes), "workspace"));
  return check(call, multiply(call, handle, *plan, dtype, pointers), op_info(op).name);
}

}  // namespace accel
