#include "codegen/emit/expressions.h"

#include <cmath>
#include <cstdio>

#include "codegen/emit/code.h"

namespace accel {

namespace {

std::string hex(uint64_t bits) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "0x%llxu", static_cast<unsigned long long>(bits));
  return buffer;
}

// Whether each narrower dtype, float16 and integers among them, holds about this value; casts to integers of less than 32 bits
// go through those of 32.
bool is_near(double value) { return value == 0 || (std::fabs(value) >= 0x1p-14 && std::fabs(value) < 65504); }

// A real of `size` bytes: hexadecimal text is exact.
std::string real_literal(int size, uint64_t bits, double value) {
  const char* type = size == 4 ? "f32" : "f64";
  if (size == 2) {
    std::string text = value == -1 ? "minus_one_bits_f16" : hex(bits & 0xffff);
    return is_near(value) ? cat("half_of_bits(", text, ")") : cat("half_of_bits((u16)(", text, " ^ ACCEL_FAR))");
  }
  if (!is_near(value)) return cat("far_", type, "(", hex(bits), ")");
  if (value == -1) return cat("minus_one_", type);
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%a%s", value, size == 4 ? "f" : "");
  return buffer;
}

std::string integer_literal(const Literal& literal) {
  const char* type = dtype_info(literal.dtype).emitted;
  if (dtype_kind(literal.dtype) == 'u') return cat("(", type, ")", hex(static_cast<uint64_t>(literal.as_int())));
  int64_t value = literal.as_int();
  if (value == INT64_MIN) return "(i64)0x8000000000000000u";
  return cat("(", type, ")", static_cast<long long>(value), "L");
}

}  // namespace

std::string cpp_type(DType dtype) { return dtype_info(dtype).emitted; }

std::string cpp_literal(const Literal& literal) {
  std::complex<double> value = literal.as_complex();
  switch (dtype_kind(literal.dtype)) {
    case 'b':
      return literal.as_int() ? "true" : "false";
    case 'f':
      return real_literal(item_size(literal.dtype), literal.bits[0], value.real());
    case 'c': {
      bool single = literal.dtype == DType::complex64;
      uint64_t low = single ? literal.bits[0] & 0xffffffffu : literal.bits[0],
               high = single ? literal.bits[0] >> 32 : literal.bits[1];
      int size = single ? 4 : 8;
      return cat(cpp_type(literal.dtype), "{", real_literal(size, low, value.real()), ", ",
                 real_literal(size, high, value.imag()), "}");
    }
    default:
      return integer_literal(literal);
  }
}

std::string cpp_dim(const DimTable& dims, Dim d, const std::function<std::string(int symbol)>& name) {
  if (auto value = dims.as_constant(d)) {
    return *value == INT64_MIN ? "(i64)0x8000000000000000u" : cat(static_cast<long long>(*value), "L");
  }
  if (auto symbol = dims.as_symbol(d)) return name(*symbol);
  std::vector<std::string> parts;
  for (Dim operand : dims.operands(d)) parts.push_back(cpp_dim(dims, operand, name));
  const char* function = nullptr;
  switch (dims.kind(d)) {
    case DimKind::floordiv:
      function = "index_floordiv";
      break;
    case DimKind::mod:
      function = "index_mod";
      break;
    case DimKind::min:
      function = "index_min";
      break;
    case DimKind::max:
      function = "index_max";
      break;
    default:
      break;
  }
  std::string out = parts[0];
  for (size_t k = 1; k < parts.size(); ++k) {
    if (function)
      out = cat(function, "(", out, ", ", parts[k], ")");
    else
      out += cat(dims.kind(d) == DimKind::add ? " + " : "*", parts[k]);
  }
  return dims.kind(d) == DimKind::add ? cat("(", out, ")") : out;
}

namespace {

// The text of an op's row, with its operands and the type of its result.
std::string filled(std::string_view cell, Op op, const std::vector<std::string>& operands, DType result) {
  if (op == Op::real || op == Op::imag) cell = op == Op::real ? "real($0)" : "imag($0)";  // of a computed value: no view
  std::string out;
  for (size_t k = 0; k < cell.size(); ++k) {
    if (cell[k] != '$' || k + 1 == cell.size()) {
      out += cell[k];
      continue;
    }
    char which = cell[++k];
    if (which == 'T')
      out += cpp_type(result);
    else
      out += operands[static_cast<size_t>(which - '0')];
  }
  return out;
}

}  // namespace

std::string cpp_op(Op op, const std::vector<std::string>& operands, DType result) {
  return filled(op_info(op).cpp, op, operands, result);
}

std::string device_op(Op op, const std::vector<std::string>& operands, DType result) {
  const std::string_view own = op_info(op).cuda;
  return filled(own.empty() ? op_info(op).cpp : own, op, operands, result);
}

}  // namespace accel
