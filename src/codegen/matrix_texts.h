#pragma once
// The device texts of gufuncs on matrices: products, and what a library would solve or factor.

#include <cstdint>
#include <string>
#include <vector>

#include "ir/dtype.h"

namespace accel {

// A translation unit with kernels, and their names.
struct MatrixText {
  std::string source;
  std::vector<std::string> kernels;
};

// A parameter of the kernels: bytes from row to row, column to column and matrix to matrix.
struct MatrixSteps {
  int64_t row = 0, column = 0, matrix = 0;
};

// product_kernel: pointers a, b, c; m, k, n and the number of products; the MatrixSteps of a, b and c; whether a is
// conjugated, an int64. A block has 256 threads for 16 x 16 elements.
MatrixText product_text(DType dtype);

// The kernels of solver_text, by number. Their parameters are those of the functions of part "device_solver" of the prelude.
enum class SolverKernel { solve, determinant, cholesky, copy, factored_determinant };
// For float32, float64, complex64, complex128.
MatrixText solver_text(DType dtype);

}  // namespace accel
