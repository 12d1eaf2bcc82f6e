#include "guard/dim_program.h"

#include <algorithm>

namespace accel {
namespace {

constexpr size_t small_depth = 16;

int64_t wrap(uint64_t value) { return static_cast<int64_t>(value); }

// Python's // and %; 0 for a divisor of 0, as in DimTable.
int64_t floor_divide(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return wrap(0 - static_cast<uint64_t>(a));
  int64_t quotient = a / b;
  return quotient - ((a % b != 0) && ((a < 0) != (b < 0)));
}

int64_t combine(DimKind kind, int64_t a, int64_t b) {
  auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  switch (kind) {
    case DimKind::add:
      return wrap(x + y);
    case DimKind::mul:
      return wrap(x * y);
    case DimKind::floordiv:
      return floor_divide(a, b);
    case DimKind::mod:
      return b == 0 ? 0 : wrap(x - static_cast<uint64_t>(floor_divide(a, b)) * y);
    case DimKind::min:
      return std::min(a, b);
    default:
      return std::max(a, b);
  }
}

}  // namespace

DimProgram::DimProgram(const DimTable& dims, Dim d) {
  if (auto constant = dims.as_constant(d)) {
    value_ = *constant;
  } else if (auto symbol = dims.as_symbol(d)) {
    kind_ = Kind::symbol;
    value_ = *symbol;
  } else {
    kind_ = Kind::steps;
    append(dims, d);
    size_t depth = 0;
    for (const Step& step : steps_) {
      depth += step.kind == DimKind::constant || step.kind == DimKind::symbol ? 1 : -1;
      depth_ = std::max(depth_, depth);
    }
  }
}

void DimProgram::append(const DimTable& dims, Dim d) {
  if (auto constant = dims.as_constant(d)) {
    steps_.push_back({DimKind::constant, *constant});
  } else if (auto symbol = dims.as_symbol(d)) {
    steps_.push_back({DimKind::symbol, *symbol});
  } else {
    std::vector<Dim> parts = dims.operands(d);
    append(dims, parts[0]);
    for (size_t i = 1; i < parts.size(); i++) {
      append(dims, parts[i]);
      steps_.push_back({dims.kind(d), 0});
    }
  }
}

int64_t DimProgram::run(const int64_t* symbols) const {
  int64_t small[small_depth];
  std::vector<int64_t> large(depth_ > small_depth ? depth_ : 0);
  int64_t* top = depth_ > small_depth ? large.data() : small;
  for (const Step& step : steps_) {
    if (step.kind == DimKind::constant) {
      *top++ = step.value;
    } else if (step.kind == DimKind::symbol) {
      *top++ = symbols[step.value];
    } else {
      top--;
      top[-1] = combine(step.kind, top[-1], *top);
    }
  }
  return top[-1];
}

}  // namespace accel
