#pragma once
// MaskedLoopWriter: loops in two halves (codegen/analysis/loops/masked_loop.h), strip by strip. The first half leaves its masks
// as bytes; the second half is done for strips of which a byte is set.

#include "codegen/analysis/loops/masked_loop.h"
#include "codegen/emit/writer.h"

namespace accel {

class MaskedLoopWriter : public Writer {
 public:
  MaskedLoopWriter(Emission& emission, const Stmt& loop, const MaskedLoop& halves)
      : Writer(emission), loop_(loop), halves_(halves) {}

  void write_loop(const std::string& first, const std::string& last);

 private:
  void write_strip();
  std::string open_strip();
  void first_half(bool by_squares);
  void second_half();
  void write_limits();
  void compare_squares(const Stmt& comparison);
  const Stmt& modulus_of(const Stmt& comparison) const;

  const Stmt& loop_;
  const MaskedLoop& halves_;
};

}  // namespace accel
