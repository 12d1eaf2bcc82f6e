#include "runtime/cuda/libraries/product_plan.h"

#include <algorithm>

namespace accel {
namespace {

using Form = ProductFactor::Form;

bool is_complex(DType dtype) { return dtype == DType::complex64 || dtype == DType::complex128; }

// The step from column to column when the elements of a column are neighbours and the columns do not overlap.
std::optional<int64_t> columns_of(const ProductMatrix& m) {
  const int64_t least = std::max<int64_t>(m.rows, 1);
  if (m.rows == 0 || m.columns == 0) return least;
  if (m.rows > 1 && m.row_step != 1) return std::nullopt;
  if (m.columns == 1) return least;
  return m.column_step >= least ? std::optional(m.column_step) : std::nullopt;
}

std::optional<ProductFactor> factor_of(int operand, const ProductMatrix& m, bool conjugated) {
  if (m.matrix_step < 0) return std::nullopt;
  if (auto step = conjugated ? std::nullopt : columns_of(m)) return ProductFactor{operand, Form::plain, *step, m.matrix_step};
  if (auto step = columns_of(m.transposed()))
    return ProductFactor{operand, conjugated ? Form::conjugated : Form::transposed, *step, m.matrix_step};
  return std::nullopt;
}

// With the result by columns, as it is.
std::optional<ProductPlan> plan_by_columns(const ProductMatrix& left, bool left_conjugated, const ProductMatrix& right,
                                           bool right_conjugated, const ProductMatrix& result, int64_t count,
                                           int left_operand) {
  auto result_step = columns_of(result);
  auto a = factor_of(left_operand, left, left_conjugated), b = factor_of(1 - left_operand, right, right_conjugated);
  if (!result_step || !a || !b) return std::nullopt;
  if (count > 1 && result.matrix_step < 1) return std::nullopt;
  return ProductPlan{result.rows, result.columns, left.columns, count, *a, *b, *result_step, result.matrix_step};
}

// A result by rows is the transposed result by columns: the factors change places.
std::optional<ProductPlan> plan_either(const Product& p) {
  auto plan = plan_by_columns(p.second.transposed(), false, p.first.transposed(), p.conjugates_first, p.result.transposed(),
                              p.count, 1);
  return plan ? plan : plan_by_columns(p.first, p.conjugates_first, p.second, false, p.result, p.count, 0);
}

// Many matrices times the same one are one product when their rows follow each other.
std::optional<Product> join_rows(Product p) {
  const int64_t rows = p.first.rows;
  if (p.count < 2 || p.second.matrix_step != 0) return std::nullopt;
  if (rows == 1) p.first.row_step = p.first.matrix_step, p.result.row_step = p.result.matrix_step;
  if (p.first.matrix_step != rows * p.first.row_step || p.result.matrix_step != rows * p.result.row_step) return std::nullopt;
  p.first.rows = p.result.rows = rows * p.count;
  p.count = 1;
  return p;
}

}  // namespace

std::optional<Product> read_product(Op op, int64_t size, const intptr_t* dims, const intptr_t* strides) {
  const int core_strides = op == Op::matmul ? 6 : op == Op::vecdot ? 2 : 4;
  int64_t s[9];
  for (int i = 0; i < 3 + core_strides; i++) {
    if (strides[i] % size != 0) return std::nullopt;
    s[i] = strides[i] / size;
  }
  const int64_t* c = s + 3;
  const int64_t a = s[0], b = s[1], r = s[2], count = dims[0];
  if (op == Op::matmul) {
    const int64_t m = dims[1], k = dims[2], n = dims[3];
    return Product{{m, k, c[0], c[1], a}, {k, n, c[2], c[3], b}, {m, n, c[4], c[5], r}, count, false};
  }
  if (op == Op::matvec) {
    const int64_t m = dims[1], k = dims[2];
    return Product{{m, k, c[0], c[1], a}, {k, 1, c[2], 1, b}, {m, 1, c[3], 1, r}, count, false};
  }
  if (op == Op::vecmat) {
    const int64_t k = dims[1], n = dims[2];
    return Product{{1, k, 1, c[0], a}, {k, n, c[1], c[2], b}, {1, n, 1, c[3], r}, count, true};
  }
  const int64_t k = dims[1];
  return Product{{1, k, 1, c[0], a}, {k, 1, c[1], 1, b}, {1, 1, 1, 1, r}, count, true};
}

bool is_blas_product(Op op, DType dtype) {
  const bool multiplies = op == Op::matmul || op == Op::matvec || op == Op::vecmat || op == Op::vecdot;
  return multiplies && (dtype == DType::float32 || dtype == DType::float64 || is_complex(dtype));
}

std::optional<ProductPlan> plan_product(Op op, DType dtype, const intptr_t* dims, const intptr_t* strides) {
  if (!is_blas_product(op, dtype)) return std::nullopt;
  auto product = read_product(op, item_size(dtype), dims, strides);
  if (!product) return std::nullopt;
  product->conjugates_first &= is_complex(dtype);
  if (auto joined = join_rows(*product))
    if (auto plan = plan_either(*joined)) return plan;
  return plan_either(*product);
}

}  // namespace accel
