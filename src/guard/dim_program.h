#pragma once
// DimProgram: a Dim made ready for evaluation in nanoseconds, without its table.

#include <cstdint>
#include <vector>

#include "ir/integers/dim.h"

namespace accel {

class DimProgram {
 public:
  DimProgram() = default;  // the constant 0
  DimProgram(const DimTable& dims, Dim d);

  // The value of the Dim with symbol k := symbols[k]. Wraps like int64.
  int64_t evaluate(const int64_t* symbols) const {
    if (kind_ == Kind::constant) return value_;
    if (kind_ == Kind::symbol) return symbols[value_];
    return run(symbols);
  }

 private:
  enum class Kind : uint8_t { constant, symbol, steps };
  // Postfix: constants and symbols push, the others combine the two topmost values.
  struct Step {
    DimKind kind;
    int64_t value;
  };
  void append(const DimTable& dims, Dim d);
  int64_t run(const int64_t* symbols) const;

  Kind kind_ = Kind::constant;
  int64_t value_ = 0;
  size_t depth_ = 0;  // values on the stack at most
  std::vector<Step> steps_;
};

}  // namespace accel
