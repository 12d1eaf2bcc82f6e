#pragma once
// StraightLineWriter: loops of few iterations that are written out, and which statements need no loop at all.

#include <functional>

#include "codegen/emit/writer.h"

namespace accel {

// A loop of at most this many iterations is written out.
constexpr int64_t most_unrolled = 8;

class StraightLineWriter : public Writer {
 public:
  using Writer::Writer;

  // The extent of a loop that is to be written out: at most `most`, with room for it in what unrolling may copy.
  std::optional<int64_t> extent(const Stmt& stmt, int64_t most = most_unrolled);
  // Writes the body `count` times, each in a block of its own that ends with what `after_element` writes.
  void write_copies(const Stmt& stmt, int64_t count, const std::function<void(int64_t)>& after_element);
  bool is_straight(const Body& body);
  // Whether the iterations of the loop store to disjoint elements of scratch memory.
  bool fills_tile(const Stmt& loop);
};

}  // namespace accel
