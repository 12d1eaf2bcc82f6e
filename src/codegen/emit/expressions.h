#pragma once
// Small pieces of C++ text: types, literals, index expressions, ops.

#include <functional>
#include <string>
#include <vector>

#include "schedule/program/program.h"

namespace accel {

std::string cpp_type(DType dtype);
// An expression with exactly the literal's bits.
std::string cpp_literal(const Literal& literal);
// d as an i64 expression; `name` gives the text of a symbol.
std::string cpp_dim(const DimTable& dims, Dim d, const std::function<std::string(int symbol)>& name);
// The op's C++ text over `operands`; empty when the op has none.
std::string cpp_op(Op op, const std::vector<std::string>& operands, DType result);
// The text for a device: of the column for CUDA, or where it is empty, of the one for C++.
std::string device_op(Op op, const std::vector<std::string>& operands, DType result);

}  // namespace accel
