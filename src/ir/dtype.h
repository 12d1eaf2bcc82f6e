#pragma once
// The dtypes a compiled program computes with. The table is dtype.inc.

#include <cstdint>
#include <optional>
#include <string_view>

namespace accel {

enum class DType : uint8_t {
#define DTYPE(enumerator, name, kind, size, emitted) enumerator,
#include "ir/dtype.inc"
#undef DTYPE
};

struct DTypeInfo {
  const char* name;     // NumPy's name
  char kind;            // NumPy's kind: b i u f c
  int size;             // bytes
  const char* emitted;  // type in emitted code
};

const DTypeInfo& dtype_info(DType dtype);
std::optional<DType> dtype_from_name(std::string_view name);
inline int item_size(DType d) { return dtype_info(d).size; }
inline char dtype_kind(DType d) { return dtype_info(d).kind; }
inline bool is_integer_dtype(DType d) { return dtype_kind(d) == 'i' || dtype_kind(d) == 'u'; }
inline bool is_inexact(DType d) { return dtype_kind(d) == 'f' || dtype_kind(d) == 'c'; }
// The dtype of one part of a complex dtype; other dtypes: themselves.
inline DType part_dtype(DType d) {
  return d == DType::complex64 ? DType::float32 : d == DType::complex128 ? DType::float64 : d;
}
inline const char* dtype_name(DType d) { return dtype_info(d).name; }

}  // namespace accel
