#pragma once
// The device texts of functions that kernels call: products, what a library would solve or factor, sorts,
// searches, counts, Fourier transforms.

#include <cstdint>
#include <string>
#include <vector>

#include "ir/dtype.h"

namespace accel {

// A translation unit with kernels, and their names.
struct LibraryText {
  std::string source;
  std::vector<std::string> kernels;
};

// A parameter of the kernels: bytes from row to row, column to column and matrix to matrix.
struct MatrixSteps {
  int64_t row = 0, column = 0, matrix = 0;
};

// product_kernel: pointers a, b, c; m, k, n and the number of products; the MatrixSteps of a, b and c; whether a is
// conjugated, an int64. A block has 256 threads for 16 x 16 elements.
LibraryText product_text(DType dtype);

// The kernels of solver_text, by number. Their parameters are those of the functions of part "device_solver" of the prelude.
enum class SolverKernel { solve, determinant, cholesky, copy, factored_determinant };
// For float32, float64, complex64, complex128.
LibraryText solver_text(DType dtype);

// A parameter of the kernels: where the elements of rows lie, as part "device_rows" of the prelude has it.
struct RowLayout {
  int64_t rank = 0, shape[63] = {}, steps[63] = {}, along = 0;
};

// The kernels of sort_text, by number. Their parameters are those of the functions of part "device_sort" of the prelude. Those
// `with_positions` move the positions that elements had in their rows as well.
enum class SortKernel {
  sort,
  divide,
  merge,
  store,
  sort_with_positions,
  divide_with_positions,
  merge_with_positions,
  store_positions,
  find_equal
};
LibraryText sort_text(DType dtype);
// Of a block: its threads, and the elements that it sorts or merges.
constexpr int sort_threads = 256;
inline int sort_tile(DType dtype, bool has_positions) {
  return sort_threads * (item_size(dtype) > 8 ? 8 : 16) / (has_positions ? 2 : 1);
}

// The kernels of search_text, by number. Their parameters are those of the functions of part "device_search" of the prelude.
enum class SearchKernel { find_unsorted, find };
LibraryText search_text(DType dtype);
constexpr int search_threads = 256;  // of a block

// The kernels of count_text, by number: for elements of int64 and weights of float64. Their parameters are those of the
// functions of part "device_count" of the prelude.
enum class CountKernel { limits, clear, count_in_blocks, count, sum_in_blocks, add_blocks, sum_sorted };
LibraryText count_text(DType dtype);
constexpr int count_threads = 256;  // of a block

// The kernels of fourier_text, which computes in complex64 or complex128 and the floats of their parts: for each of
// fourier_dtypes one that takes points of that dtype and one that takes halves, for each of fourier_floats one that takes
// floats; then those that store complex numbers and floats. Their parameters are those of the functions of part
// "device_fourier" of the prelude; all that take points have `points`, too.
constexpr DType fourier_floats[] = {DType::float32, DType::float64};
constexpr DType fourier_complex[] = {DType::complex64, DType::complex128};
constexpr DType fourier_dtypes[] = {DType::float32, DType::float64, DType::complex64, DType::complex128};
enum class FourierKernel { take = 0, take_half = 4, take_real = 8, store = 10, store_real = 12 };  // the first of each
LibraryText fourier_text(DType dtype);
constexpr int fourier_threads = 256;  // of a block

}  // namespace accel
