#include "ir/dtype.h"

#include <iterator>

namespace accel {

namespace {

constexpr DTypeInfo dtype_table[] = {
#define DTYPE(enumerator, name, kind, size, emitted) {name, kind, size, emitted},
#include "ir/dtype.inc"
#undef DTYPE
};

}  // namespace

const DTypeInfo& dtype_info(DType dtype) { return dtype_table[static_cast<int>(dtype)]; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (size_t i = 0; i < std::size(dtype_table); ++i) {
    if (name == dtype_table[i].name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

}  // namespace accel
