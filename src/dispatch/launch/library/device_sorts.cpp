#include "dispatch/launch/library/device_sorts.h"

#include "dispatch/launch/library/row_layout.h"
#include "dispatch/launch/library/row_sorter.h"

namespace accel {

Result<std::optional<DeviceResult>> sort_on_device(CudaDevice& device, const SortForm& form, const FormOperand& operand,
                                                   const Type& result) {
  const DType dtype = operand.type->dtype;
  const int64_t count = count_of(operand.dims), n = operand.dims[static_cast<size_t>(form.axis)];
  DeviceResult made{nullptr, {operand.dims.begin(), operand.dims.end()}};
  if (count == 0) {
    ACCEL_TRY(made.block, new_device_block(device, 0));
    return std::optional(std::move(made));
  }
  ACCEL_TRY(const std::optional<RowSorter> sorter, RowSorter::make(device, dtype, n, count, form.gives_positions));
  if (!sorter) return std::optional<DeviceResult>();
  ACCEL_TRY(SortedRows rows, sorter->sort(operand.data, rows_along(form.axis, operand.dims, operand.strides)));
  if (form.gives_positions && !form.is_stable) {
    ACCEL_TRY(bool has_equal, sorter->has_equal(rows));
    if (has_equal) return std::optional<DeviceResult>();
  }
  if (result.order.empty() && form.axis == operand.type->rank() - 1) {
    made.block = form.gives_positions ? rows.positions : rows.keys;
  } else {
    const std::vector<int64_t> strides = dense_strides(result.dtype, operand.dims, result.order);
    ACCEL_TRY(made.block, sorter->stored(rows, rows_along(form.axis, operand.dims, strides)));
  }
  return std::optional(std::move(made));
}

}  // namespace accel
