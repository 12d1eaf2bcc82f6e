#pragma once
// LoopWriter: loops over elements and tiles, and repeated loops, each by the writer of its form: straight-line code, vector
// lanes, masked strips, periods, vectors of complex numbers; else a plain loop.

#include "codegen/analysis/loops/masked_loop.h"
#include "codegen/emit/writer.h"

namespace accel {

class LoopWriter : public Writer {
 public:
  using Writer::Writer;

  void loop(const Stmt& stmt);
  void tile(const Stmt& stmt);
  void repeat(const Stmt& stmt);

  // Iterations [first, last).
  void counted_loop(const Stmt& stmt, const std::string& first, const std::string& last);
  void tiled_loop(const Stmt& stmt, const std::string& first, const std::string& last);
  void fast_loop(const Stmt& stmt, const std::string& first, const std::string& last);   // without a record of events
  void plain_loop(const Stmt& stmt, const std::string& first, const std::string& last);  // without lanes and masks
  void plain_repeat(const Stmt& stmt);                                                   // without vectors

 private:
  std::optional<MaskedLoop> passes_over(const Stmt& stmt) const;
};

// The poll for interruption at the end of an iteration of a loop that may be long; `iteration`: the text of its number.
std::string break_if_interrupted(const std::string& iteration);

}  // namespace accel
