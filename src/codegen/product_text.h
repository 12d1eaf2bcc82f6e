#pragma once
// The device text of products of matrices, for what no library computes.

#include <string>

#include "ir/dtype.h"

namespace accel {

// A translation unit with the kernel `product_kernel`: pointers a, b, c; m, k, n and the number of products; for a, b and c
// the bytes from row to row, column to column and matrix to matrix; whether a is conjugated. A block has 256 threads for
// 16 x 16 elements.
std::string product_text(DType dtype);

}  // namespace accel
