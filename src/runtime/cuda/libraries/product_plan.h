#pragma once
// How a product of NumPy's gufuncs is computed by cuBLAS, which knows matrices by columns alone. Needs no device.

#include <cstdint>
#include <optional>

#include "ir/dtype.h"
#include "ir/op.h"

namespace accel {

// A matrix as NumPy has it, and the next ones; steps in elements or bytes.
struct ProductMatrix {
  int64_t rows, columns, row_step, column_step, matrix_step;

  ProductMatrix transposed() const { return {columns, rows, column_step, row_step, matrix_step}; }
};

// (m,k) times (k,n) gives (m,n), `count` times.
struct Product {
  ProductMatrix first, second, result;
  int64_t count;
  bool conjugates_first;
};

// The operands of a gufunc as matrices, with steps of `size` bytes: vectors are rows or columns. nullopt: a stride is no
// multiple of the size.
std::optional<Product> read_product(Op op, int64_t size, const intptr_t* dims, const intptr_t* strides);

// One of the two factors: a matrix by columns, perhaps transposed.
struct ProductFactor {
  enum class Form { plain, transposed, conjugated };  // conjugated: and transposed; values of cublasOperation_t

  int operand = 0;  // of the gufunc: 0 or 1
  Form form = Form::plain;
  int64_t column_step = 0;  // elements between the starts of two columns (the leading dimension)
  int64_t matrix_step = 0;  // elements between the starts of two matrices
};

// result (rows x columns, by columns) = left (rows x depth) * right (depth x columns), `count` times.
struct ProductPlan {
  int64_t rows = 0, columns = 0, depth = 0, count = 0;
  ProductFactor left, right;
  int64_t result_column_step = 0, result_matrix_step = 0;

  bool is_empty() const { return rows == 0 || columns == 0 || count == 0; }
};

// For matmul, matvec, vecmat and vecdot of float32, float64, complex64, complex128. `dims` and `strides` as NumPy passes them
// to the loops of gufuncs. nullopt: an operand has to be copied first; one that NumPy would call C-contiguous never has to.
std::optional<ProductPlan> plan_product(Op op, DType dtype, const intptr_t* dims, const intptr_t* strides);

// Whether cuBLAS has products of this kind at all.
bool is_blas_product(Op op, DType dtype);

}  // namespace accel
