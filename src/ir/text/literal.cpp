// Literal: typed constants, bit-exact, and their text.

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "ir/graph.h"

namespace accel {

namespace {

uint16_t half_bits(double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  double magnitude = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7e00;
  if (magnitude >= 65520.0) return sign | 0x7c00;  // halfway to the next power: rounds to infinity
  if (magnitude < 0x1p-14) return sign | static_cast<uint16_t>(std::nearbyint(magnitude * 0x1p24));
  int exponent = std::ilogb(magnitude);
  int mantissa = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));  // in [1024, 2048]
  return sign | static_cast<uint16_t>(((exponent + 15) << 10) + (mantissa - 1024));
}

double half_value(uint16_t bits) {
  int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  double magnitude = exponent == 31  ? (mantissa ? std::nan("") : HUGE_VAL)
                     : exponent == 0 ? std::ldexp(mantissa, -24)
                                     : std::ldexp(1024 + mantissa, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

uint64_t float_bits(DType dtype, double value) {
  if (dtype == DType::float16) return half_bits(value);
  if (dtype == DType::float32) return std::bit_cast<uint32_t>(static_cast<float>(value));
  return std::bit_cast<uint64_t>(value);
}

double float_value(DType dtype, uint64_t bits) {
  if (dtype == DType::float16) return half_value(static_cast<uint16_t>(bits));
  if (dtype == DType::float32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  return std::bit_cast<double>(bits);
}

uint64_t low_bytes(uint64_t bits, int size) { return size == 8 ? bits : bits & ((uint64_t{1} << (8 * size)) - 1); }

// bits[] of a complex literal: the value's bytes, so complex64 has both parts in bits[0].
Literal of_parts(DType dtype, uint64_t re, uint64_t im) {
  if (dtype == DType::complex64) return {dtype, {re | (im << 32), 0}};
  return {dtype, {re, im}};
}
uint64_t part(const Literal& l, int index) {
  if (l.dtype == DType::complex64) return low_bytes(l.bits[0] >> (32 * index), 4);
  return l.bits[index];
}

template <class T>
std::string shortest(T value) {
  char buffer[64];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

// A number that reads back to the same bits; NaNs other than the default one as bits:0x<hex>.
std::string float_text(DType dtype, uint64_t bits) {
  double value = float_value(dtype, bits);
  if (!std::isnan(value)) return dtype == DType::float64 ? shortest(value) : shortest(static_cast<float>(value));
  if (bits == float_bits(dtype, std::nan(""))) return "nan";
  char buffer[20];
  return "bits:0x" + std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, bits, 16).ptr);
}

template <class T>
bool read(std::string_view text, T& out, auto... format) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, format...);
  return error == std::errc() && end == text.data() + text.size();
}

std::optional<uint64_t> parse_float_bits(DType dtype, std::string_view text) {
  uint64_t bits = 0;
  if (text.starts_with("bits:0x")) return read(text.substr(7), bits, 16) ? std::optional(bits) : std::nullopt;
  float narrow = 0;
  double wide = 0;
  bool good = dtype == DType::float32 ? read(text, narrow) : read(text, wide);
  if (!good) return std::nullopt;
  return dtype == DType::float32 ? std::bit_cast<uint32_t>(narrow) : float_bits(dtype, wide);
}

std::optional<Literal> parse_complex(DType dtype, std::string_view text) {
  size_t comma = text.find(',');
  if (text.size() < 5 || text.front() != '(' || text.back() != ')' || comma == text.npos) return std::nullopt;
  std::string_view second = text.substr(comma + 1, text.size() - comma - 2);
  while (second.starts_with(' ')) second.remove_prefix(1);
  auto re = parse_float_bits(part_dtype(dtype), text.substr(1, comma - 1));
  auto im = parse_float_bits(part_dtype(dtype), second);
  if (!re || !im) return std::nullopt;
  return of_parts(dtype, *re, *im);
}

}  // namespace

Literal Literal::of_int(DType dtype, int64_t value) {
  if (dtype == DType::bool_) return {dtype, {value != 0, 0}};
  return {dtype, {low_bytes(static_cast<uint64_t>(value), item_size(dtype)), 0}};
}

Literal Literal::of_double(DType dtype, double value) {
  if (dtype_kind(dtype) == 'c') return of_complex(dtype, {value, 0.0});
  return {dtype, {float_bits(dtype, value), 0}};
}

Literal Literal::of_complex(DType dtype, std::complex<double> value) {
  DType part = part_dtype(dtype);
  return of_parts(dtype, float_bits(part, value.real()), float_bits(part, value.imag()));
}

int64_t Literal::as_int() const {
  int unused = 64 - 8 * item_size(dtype);
  if (dtype_kind(dtype) != 'i') return static_cast<int64_t>(bits[0]);
  return static_cast<int64_t>(bits[0] << unused) >> unused;
}

std::complex<double> Literal::as_complex() const {
  char kind = dtype_kind(dtype);
  if (kind == 'c') return {float_value(part_dtype(dtype), part(*this, 0)), float_value(part_dtype(dtype), part(*this, 1))};
  if (kind == 'f') return float_value(dtype, bits[0]);
  return dtype == DType::uint64 ? static_cast<double>(bits[0]) : static_cast<double>(as_int());
}

std::string Literal::text() const {
  switch (dtype_kind(dtype)) {
    case 'b':
      return bits[0] ? "true" : "false";
    case 'i':
      return std::to_string(as_int());
    case 'u':
      return std::to_string(bits[0]);
    case 'f':
      return float_text(dtype, bits[0]);
  }
  return "(" + float_text(part_dtype(dtype), part(*this, 0)) + ", " + float_text(part_dtype(dtype), part(*this, 1)) + ")";
}

std::optional<Literal> parse_literal(DType dtype, std::string_view text) {
  switch (dtype_kind(dtype)) {
    case 'b':
      if (text != "true" && text != "false") return std::nullopt;
      return Literal::of_int(dtype, text == "true");
    case 'i': {
      int64_t value = 0;
      if (!read(text, value)) return std::nullopt;
      return Literal::of_int(dtype, value);
    }
    case 'u': {
      uint64_t value = 0;
      if (!read(text, value)) return std::nullopt;
      return Literal::of_int(dtype, static_cast<int64_t>(value));
    }
    case 'f': {
      auto bits = parse_float_bits(dtype, text);
      if (!bits) return std::nullopt;
      return Literal{dtype, {*bits, 0}};
    }
  }
  return parse_complex(dtype, text);
}

}  // namespace accel
