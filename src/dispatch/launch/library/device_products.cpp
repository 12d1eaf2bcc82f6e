#include "dispatch/launch/library/device_products.h"

#include "dispatch/launch/device_launch.h"
#include "dispatch/launch/library/text_kernels.h"
#include "runtime/cuda/libraries/blas.h"
#include "runtime/cuda/libraries/product_plan.h"

namespace accel {
namespace {

constexpr int64_t product_tile = 16;              // prelude part "device_product"
constexpr int64_t most_small_products = 1 << 21;  // multiplications up to which a library takes longer

// A gufunc, as kernels call it.
struct ProductCall {
  TextKernels& kernels;
  Op op;
  bool has_blas;
};

MatrixSteps steps_of(const ProductMatrix& m) { return {m.row_step, m.column_step, m.matrix_step}; }

Status multiply_by_kernel(TextKernels& kernels, const Product& product, char* const* args) {
  ACCEL_TRY(const DeviceModule* module, kernels.load(product_text));
  char *a = args[0], *b = args[1], *c = args[2];
  int64_t m = product.first.rows, k = product.first.columns, n = product.second.columns, count = product.count;
  int64_t conjugates = product.conjugates_first;
  MatrixSteps of_a = steps_of(product.first), of_b = steps_of(product.second), of_c = steps_of(product.result);
  void* arguments[] = {&a, &b, &c, &m, &k, &n, &count, &of_a, &of_b, &of_c, &conjugates};
  auto tiles = [](int64_t extent) { return (extent + product_tile - 1) / product_tile; };
  return module->launch(0, {tiles(m) * tiles(n) * count, 256, 0}, arguments);
}

Status multiply(const ProductCall& call, char* const* args, const intptr_t* dims, const intptr_t* strides) {
  TextKernels& kernels = call.kernels;
  std::optional<Product> product = read_product(call.op, 1, dims, strides);
  product->conjugates_first &= dtype_kind(kernels.dtype) == 'c';
  const int64_t size = product->first.rows * product->first.columns * product->second.columns * product->count;
  const bool is_small = size <= most_small_products;
  if (!call.has_blas || is_small || !plan_product(call.op, kernels.dtype, dims, strides))
    return multiply_by_kernel(kernels, *product, args);
  return call_blas(kernels.device, call.op, kernels.dtype, args, dims, strides);
}

int run_product(void* context, char* const* args, const intptr_t* dims, const intptr_t* strides, void*) {
  return DeviceLaunch::note(multiply(*static_cast<const ProductCall*>(context), args, dims, strides)) ? 0 : -1;
}

}  // namespace

bool is_product(Op op) { return op == Op::matmul || op == Op::vecdot || op == Op::matvec || op == Op::vecmat; }

DeviceFunctionCall product_function(CudaDevice& device, const LoopImport& import) {
  static auto* cache = new TextKernelCache;
  const DType dtype = import.dtypes.front();
  const bool has_blas = is_blas_product(import.op, dtype) && find_cublas().ok();
  auto call = std::make_shared<ProductCall>(ProductCall{cache->of(device, dtype), import.op, has_blas});
  return {{run_product, call.get(), nullptr}, call};
}

}  // namespace accel
