#pragma once
// PeriodWriter: loops whose addresses have quotients and remainders by a number that is fixed during the run: two nested loops,
// over periods and over the positions within a period, so that no address needs a division.

#include "codegen/emit/writer.h"

namespace accel {

// What base + the loop's variable is divided by.
struct Period {
  Dim base, length;
};

class PeriodWriter : public Writer {
 public:
  using Writer::Writer;

  std::optional<Period> find(const Stmt& loop);
  // Writes the loop as two nested ones: over periods, and over the positions within a period.
  void write_loops(const Stmt& stmt, const Period& period, const std::string& first, const std::string& last);
  // Between enter and leave the loop's variable is written as quotient * period + remainder: the symbols `number` and
  // `position`.
  void enter(const Stmt& stmt, const Period& period, int number, int position);
  void leave(const Stmt& stmt, int number, int position);
};

}  // namespace accel
