#pragma once
// RowSorter: stable sorts of rows in memory of a device, in the order that NumPy gives elements.

#include <cstdint>
#include <memory>
#include <optional>

#include "codegen/library_texts.h"
#include "runtime/cuda/device.h"

namespace accel {

// Rows of keys, and of the positions of the elements, side by side.
struct SortedRows {
  std::shared_ptr<DeviceBlock> keys, positions;

  static Result<SortedRows> take(CudaDevice& device, int64_t count, int64_t item, bool has_positions);
  char* keys_data() const { return keys->data; }
  char* positions_data() const { return positions ? positions->data : nullptr; }
};

// Functions queue work, but for has_equal, which waits for it without the GIL.
class RowSorter {
 public:
  // For `count` elements of rows of n elements, neither of them 0. Nothing for more elements than a launch can have. Compiles
  // the kernels when they are first needed, without the GIL.
  static Result<std::optional<RowSorter>> make(CudaDevice& device, DType dtype, int64_t n, int64_t count, bool has_positions);

  Result<SortedRows> sort(char* from, RowLayout layout) const;
  // Whether a sorted row has equal elements.
  Result<bool> has_equal(const SortedRows& rows) const;
  // Copies the positions, or the keys where there are none, to a dense array that has another order of axes.
  Result<std::shared_ptr<DeviceBlock>> stored(const SortedRows& rows, RowLayout layout) const;

 private:
  RowSorter(const DeviceModule& module, CudaDevice& device, DType dtype, int64_t n, int64_t count, bool has_positions)
      : module_(&module), device_(&device), dtype_(dtype), n_(n), count_(count), has_positions_(has_positions) {}
  Status launch(SortKernel kernel, int64_t blocks, void** arguments) const;
  Status merge(const SortedRows& from, const SortedRows& to, int64_t width, char* bounds) const;
  int64_t tile() const { return sort_tile(dtype_, has_positions_); }
  int64_t tiles() const { return count_ / n_ * ((n_ + tile() - 1) / tile()); }
  int64_t blocks_of_elements() const { return (count_ + sort_threads - 1) / sort_threads; }

  const DeviceModule* module_;
  CudaDevice* device_;
  DType dtype_;
  int64_t n_, count_;  // elements of a row, and of all rows
  bool has_positions_;
};

}  // namespace accel
