#pragma once
// NumPy's C functions that draw a number. The table is rng_functions.inc.

#include <optional>
#include <string_view>
#include <vector>

#include "ir/dtype.h"

namespace accel {

// Ranges that NumPy requires of an argument, independent of the other arguments.
enum class Limit : uint8_t {
  none,
  non_negative,    // the sign bit is not set
  positive,        // > 0
  positive_share,  // in (0, 1]
  proper_share,    // in [0, 1)
  above_one,       // > 1
  rate,            // in [0, 1e18]
};

struct DrawParameter {
  const char* name;
  Limit limit;
  std::optional<double> when_missing = {};
};

struct DrawInfo {
  const char* method;
  DType result, operands;
  const char* function;
  std::vector<DrawParameter> parameters;
};

const std::vector<DrawInfo>& draw_infos();
// Whether the function leaves the floating-point flags unchanged.
inline bool is_quiet(const DrawInfo& info) { return std::string_view(info.function).starts_with("draw_"); }
// Whether it draws the doubles of the stream without a transformation.
inline bool gives_doubles(const DrawInfo& info) { return info.function == std::string_view("draw_random"); }
// Whether it draws normal numbers, scaled and shifted or not.
inline bool is_normal(const DrawInfo& info) {
  return info.function == std::string_view("draw_normal") || info.function == std::string_view("draw_standard_normal");
}
// Index of a method's row, or -1.
int find_draw(std::string_view method);

}  // namespace accel
