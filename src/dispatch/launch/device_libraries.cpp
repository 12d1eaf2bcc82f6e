#include "dispatch/launch/device_libraries.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "codegen/product_text.h"
#include "dispatch/launch/device_launch.h"
#include "runtime/cuda/blas.h"
#include "runtime/cuda/product_plan.h"
#include "toolchain/device_code.h"

namespace accel {

namespace {

constexpr int64_t product_tile = 16;              // prelude part "device_product"
constexpr int64_t most_small_products = 1 << 21;  // multiplications up to which a library takes longer

// Products of one dtype on one device. Never destroyed.
struct Products {
  CudaDevice& device;
  DType dtype;
  std::once_flag asked;
  Status status = Unit{};
  std::shared_ptr<const DeviceModule> module;

  Status load() {
    std::call_once(asked, [&] {
      auto compiled = [&]() -> Status {
        ACCEL_TRY(std::string cubin, compile_device_code(product_text(dtype), device.architecture()));
        ACCEL_TRY(module, DeviceModule::load(device, cubin, {"product_kernel"}));
        return Unit{};
      };
      status = compiled();
    });
    return status;
  }
};

Products& products_of(CudaDevice& device, DType dtype) {
  static std::mutex mutex;
  static auto* all = new std::map<std::pair<CudaDevice*, DType>, std::unique_ptr<Products>>();
  std::lock_guard lock(mutex);
  std::unique_ptr<Products>& found = (*all)[{&device, dtype}];
  if (!found) found.reset(new Products{device, dtype, {}, Unit{}, nullptr});
  return *found;
}

// A gufunc, as kernels call it.
struct ProductCall {
  Products& products;
  Op op;
  bool has_blas;
};

bool is_product(Op op) { return op == Op::matmul || op == Op::vecdot || op == Op::matvec || op == Op::vecmat; }

// Steps in bytes, as the kernel takes them.
struct Steps {
  int64_t row, column, matrix;
};
Steps steps_of(const ProductMatrix& m) { return {m.row_step, m.column_step, m.matrix_step}; }

Status multiply_by_kernel(Products& products, const Product& product, char* const* args) {
  ACCEL_TRY([[maybe_unused]] Unit loaded, products.load());
  char *a = args[0], *b = args[1], *c = args[2];
  int64_t m = product.first.rows, k = product.first.columns, n = product.second.columns, count = product.count;
  int64_t conjugates = product.conjugates_first;
  Steps of_a = steps_of(product.first), of_b = steps_of(product.second), of_c = steps_of(product.result);
  void* arguments[] = {&a, &b, &c, &m, &k, &n, &count, &of_a, &of_b, &of_c, &conjugates};
  auto tiles = [](int64_t extent) { return (extent + product_tile - 1) / product_tile; };
  return products.module->launch(0, {tiles(m) * tiles(n) * count, 256, 0}, arguments);
}

Status multiply(const ProductCall& call, char* const* args, const intptr_t* dims, const intptr_t* strides) {
  std::optional<Product> product = read_product(call.op, 1, dims, strides);
  product->conjugates_first &= dtype_kind(call.products.dtype) == 'c';
  const int64_t size = product->first.rows * product->first.columns * product->second.columns * product->count;
  const bool is_small = size <= most_small_products;
  if (!call.has_blas || is_small || !plan_product(call.op, call.products.dtype, dims, strides))
    return multiply_by_kernel(call.products, *product, args);
  return call_blas(call.products.device, call.op, call.products.dtype, args, dims, strides);
}

int run_product(void* context, char* const* args, const intptr_t* dims, const intptr_t* strides, void*) {
  return DeviceLaunch::note(multiply(*static_cast<const ProductCall*>(context), args, dims, strides)) ? 0 : -1;
}

}  // namespace

Result<DeviceFunctionCall> library_function(CudaDevice& device, const LoopImport& import) {
  const DType dtype = import.dtypes.front();
  if (!is_product(import.op)) return fail(Reason::not_on_device, std::string(op_info(import.op).name));
  const bool has_blas = is_blas_product(import.op, dtype) && find_cublas().ok();
  auto call = std::make_shared<ProductCall>(ProductCall{products_of(device, dtype), import.op, has_blas});
  return DeviceFunctionCall{{run_product, call.get(), nullptr}, call};
}

}  // namespace accel
