#pragma once
// EdgeWriter: jumps from block to block: assignment of parameters, polls for interruption on back edges
// (codegen/analysis/polls.h), and strips of counted loops.

#include "codegen/emit/control/control_writer.h"

namespace accel {

class EdgeWriter : public ControlWriter {
 public:
  using ControlWriter::ControlWriter;

  // The edge number `which` of a block.
  void go(size_t from, int which);
  // Of a header whose loop runs in strips: before its block, and the branch at its end.
  void begin_strip(size_t header);
  void end_strip(size_t header);
  // The condition under which a latch polls explicitly; `condition`: that of its branch.
  std::string poll_is_due(TempId condition);

 private:
  std::string label(size_t from, int target) const;
  std::optional<size_t> loop_entered(size_t from, int target) const;
  void poll_at(size_t from, int which);
  void write_poll(size_t from, const std::string& condition);
  void pass_scalars(const Edge& edge);
  std::string cost_text(const PollCost& cost);
};

}  // namespace accel
