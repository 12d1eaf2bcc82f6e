#pragma once
// PeriodWriter: loops whose addresses have quotients and remainders by a number of the run, as periods and places within one,
// so that no address needs a division.

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
  // The loop as two: over periods, and over the places within one.
  void write_loops(const Stmt& stmt, const Period& period, const std::string& first, const std::string& last);
  // Between the two the loop's variable is written as quotient * period + remainder: the symbols `number` and `place`.
  void enter(const Stmt& stmt, const Period& period, int number, int position);
  void leave(const Stmt& stmt, int number, int position);
};

}  // namespace accel
