#include "dispatch/launch/library/device_fourier.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "dispatch/launch/library/row_layout.h"
#include "dispatch/launch/library/text_kernels.h"
#include "dispatch/signals/interrupt.h"
#include "runtime/cuda/libraries/fourier.h"

namespace accel {
namespace {

// Rows of elements, as an array has them.
struct Side {
  char* data = nullptr;
  DType dtype = DType::complex128;
  RowLayout layout;
  int64_t n = 0;          // elements of a row
  bool is_dense = false;  // rows lie side by side
};

bool are_dense(DType dtype, std::span<const int64_t> dims, std::span<const int64_t> strides, int axis) {
  return axis == static_cast<int>(dims.size()) - 1 && std::ranges::equal(dense_strides(dtype, dims, {}), strides);
}

// Whether cuFFT is installed, which the first call finds out. Requires the GIL.
bool has_cufft() {
  enum class Answer : char { unknown, no, yes };
  static std::atomic<Answer> answer{Answer::unknown};
  if (answer == Answer::unknown) answer = without_gil([] { return find_cufft().ok(); }) ? Answer::yes : Answer::no;
  return answer == Answer::yes;
}

// The index of a dtype among those that a group of kernels is for.
template <size_t count>
int index_of(const DType (&dtypes)[count], DType dtype) {
  return static_cast<int>(std::ranges::find(dtypes, dtype) - dtypes);
}

struct FourierRun {
  const DeviceModule& module;
  CudaDevice& device;
  const FourierForm& form;
  Side from, to;
  DType complex_dtype;  // that it computes in
  int64_t rows, points;
  double factor;

  Status launch(FourierKernel first, int index, int64_t count, void** arguments) const {
    const LaunchShape shape{(count + fourier_threads - 1) / fourier_threads, fourier_threads, 0};
    return module.launch(static_cast<int>(first) + index, shape, arguments);
  }

  bool is_of_real() const { return form.kind == FourierForm::Kind::real_forward; }
  bool is_to_real() const { return form.kind == FourierForm::Kind::real_backward; }
  DType float_dtype() const { return complex_dtype == DType::complex64 ? DType::float32 : DType::float64; }
  DType taken_dtype() const { return is_of_real() ? float_dtype() : complex_dtype; }
  DType computed_dtype() const { return is_to_real() ? float_dtype() : complex_dtype; }
  // The elements that the library reads of each row.
  int64_t taken() const { return is_to_real() ? points / 2 + 1 : points; }
  // Whether the library can read the operand as it is: it overwrites halves, and asks for the alignment of complex numbers.
  bool is_taken() const {
    const bool is_aligned = reinterpret_cast<uintptr_t>(from.data) % static_cast<size_t>(item_size(complex_dtype)) == 0;
    return !is_to_real() && from.is_dense && from.n == points && from.dtype == taken_dtype() && is_aligned;
  }
  bool is_stored() const { return to.is_dense && to.dtype == computed_dtype(); }

  Result<std::shared_ptr<DeviceBlock>> take() const {
    int64_t n = taken(), count = rows * n, have = from.n, length = points;
    ACCEL_TRY(std::shared_ptr<DeviceBlock> made, new_device_block(device, count * item_size(taken_dtype())));
    char *data = from.data, *taken = made->data;
    RowLayout layout = from.layout;
    void* arguments[] = {&data, &layout, &have, &taken, &n, &count, &length};
    const FourierKernel kernel = is_to_real()   ? FourierKernel::take_half
                                 : is_of_real() ? FourierKernel::take_real
                                                : FourierKernel::take;
    const int index = is_of_real() ? index_of(fourier_floats, from.dtype) : index_of(fourier_dtypes, from.dtype);
    ACCEL_TRY([[maybe_unused]] Unit done, launch(kernel, index, count, arguments));
    return made;
  }

  // Rows side by side become rows as the result has them; these may be the same memory.
  Status store(char* computed, char* data) const {
    int64_t n = to.n, count = rows * n;
    RowLayout layout = to.layout;
    double by = factor;
    void* arguments[] = {&computed, &data, &layout, &n, &count, &by};
    if (is_to_real()) return launch(FourierKernel::store_real, index_of(fourier_floats, to.dtype), count, arguments);
    return launch(FourierKernel::store, index_of(fourier_complex, to.dtype), count, arguments);
  }

  Status run() const {
    std::shared_ptr<DeviceBlock> points_block, computed_block;
    char *taken_data = from.data, *computed = to.data;
    if (!is_taken()) {
      ACCEL_TRY(points_block, take());
      taken_data = points_block->data;
    }
    if (!is_stored()) {
      ACCEL_TRY(computed_block, new_device_block(device, rows * to.n * item_size(computed_dtype())));
      computed = computed_block->data;
    }
    const bool is_forward = form.kind == FourierForm::Kind::forward || is_of_real();
    const FourierTransform wanted{taken_dtype(), computed_dtype(), points, rows, is_forward};
    ACCEL_TRY([[maybe_unused]] Unit done, device.submit());
    ACCEL_TRY(done, without_gil([&] { return transform(device, wanted, taken_data, computed); }));
    return is_stored() && factor == 1 ? Status(Unit{}) : store(computed, to.data);
  }
};

double factor_of(const FourierForm& form, std::span<const FormOperand> operands) {
  if (!form.factor_operand) return form.factor;
  const FormOperand& operand = operands[static_cast<size_t>(*form.factor_operand)];
  auto read = [&](auto number) {
    std::memcpy(&number, operand.data, sizeof number);
    return static_cast<double>(number);
  };
  const DType dtype = operand.type->dtype;
  return dtype == DType::float32 ? read(float{}) : dtype == DType::int64 ? read(int64_t{}) : read(double{});
}

// Whether the outer axes of both are the same: NumPy broadcasts others.
bool has_rows_of(const FormOperand& a, const FormOperand& out, int axis) {
  for (int k = 0; k < a.type->rank(); ++k)
    if (k != axis && a.dims[static_cast<size_t>(k)] != out.dims[static_cast<size_t>(k)]) return false;
  return true;
}

}  // namespace

Result<std::optional<DeviceResult>> transform_on_device(CudaDevice& device, const FourierForm& form,
                                                        std::span<const FormOperand> operands, const Type& result) {
  static auto* cache = new TextKernelCache;
  const FormOperand &a = operands.front(), &out = operands.back();
  const auto axis = static_cast<size_t>(form.axis);
  if (!has_rows_of(a, out, form.axis) || !has_cufft()) return std::optional<DeviceResult>();
  const DType complex_dtype = form.is_single ? DType::complex64 : DType::complex128;
  const int64_t n = out.dims[axis];
  const int64_t points = form.kind == FourierForm::Kind::real_forward ? 2 * (n - 1) + (form.is_odd ? 1 : 0) : n;
  DeviceResult made{nullptr, {out.dims.begin(), out.dims.end()}};
  const int64_t count = count_of(out.dims);
  if (points < 1) return std::optional<DeviceResult>();
  ACCEL_TRY(made.block, new_device_block(device, count * item_size(result.dtype)));
  if (count == 0) return std::optional(std::move(made));
  ACCEL_TRY(const DeviceModule* module, cache->of(device, complex_dtype).load(fourier_text));
  const std::vector<int64_t> strides = dense_strides(result.dtype, out.dims, result.order);
  const DType dtype = a.type->dtype;
  const Side from{a.data, dtype, rows_along(form.axis, a.dims, a.strides), a.dims[axis],
                  are_dense(dtype, a.dims, a.strides, form.axis)};
  const Side to{made.block->data, result.dtype, rows_along(form.axis, out.dims, strides), n,
                are_dense(result.dtype, out.dims, strides, form.axis)};
  const FourierRun run{*module, device, form, from, to, complex_dtype, count / n, points, factor_of(form, operands)};
  ACCEL_TRY([[maybe_unused]] Unit done, run.run());
  return std::optional(std::move(made));
}

}  // namespace accel
