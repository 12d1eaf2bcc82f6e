#pragma once
// LaneLoopWriter: loops whose iterations each look for an extreme (argmin, argmax). Strips of iterations are done side by side
// in vector lanes, without branches. A strip in which that is not enough (roots that nearly tie, NaN) is done again one by one.

#include "codegen/emit/writer.h"

namespace accel {

class LaneLoopWriter : public Writer {
 public:
  using Writer::Writer;

  bool fits(const Stmt& loop);
  // Requires fits(stmt).
  void write_loop(const Stmt& stmt, const std::string& first, const std::string& last);

 private:
  std::optional<size_t> reduced_in_lanes(const Body& body, Dim lane);
  void lanes_of_reduction(const Stmt& stmt, size_t reduction);
  bool is_near(const Body& body, Dim lane);
  const Stmt* streamed_store(const Stmt& loop);
  void begin_strip(const Stmt& loop, const Stmt& store);
  void end_strip(const Stmt& store);
};

}  // namespace accel
