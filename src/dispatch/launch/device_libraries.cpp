#include "dispatch/launch/device_libraries.h"

#include <memory>
#include <string>

#include "dispatch/launch/device_launch.h"
#include "runtime/cuda/blas.h"

namespace accel {

namespace {

struct Product {
  CudaDevice& device;
  Op op;
  DType dtype;
};

bool is_product(Op op) { return op == Op::matmul || op == Op::vecdot || op == Op::matvec || op == Op::vecmat; }

bool is_of_blas(DType dtype) { return dtype_kind(dtype) == 'c' || dtype == DType::float32 || dtype == DType::float64; }

int multiply(void* context, char* const* args, const intptr_t* dims, const intptr_t* strides, void*) {
  const Product& product = *static_cast<const Product*>(context);
  return DeviceLaunch::note(call_blas(product.device, product.op, product.dtype, args, dims, strides)) ? 0 : -1;
}

}  // namespace

Result<DeviceFunctionCall> library_function(CudaDevice& device, const LoopImport& import) {
  const DType dtype = import.dtypes.front();
  if (!is_product(import.op) || !is_of_blas(dtype))
    return fail(Reason::not_on_device, std::string(op_info(import.op).name) + " of " + dtype_name(dtype));
  ACCEL_TRY([[maybe_unused]] CublasInfo found, find_cublas());
  auto product = std::make_shared<Product>(Product{device, import.op, dtype});
  return DeviceFunctionCall{{multiply, product.get(), nullptr}, product};
}

}  // namespace accel
