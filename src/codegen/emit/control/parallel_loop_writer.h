#pragma once
// ParallelLoopWriter: entry of a loop of the control flow whose iterations threads share: the functions of the loop
// (ControlFunction) run all iterations but the last one, which the blocks of the program run.

#include "codegen/emit/control/control_writer.h"

namespace accel {

class ParallelLoopWriter : public ControlWriter {
 public:
  using ControlWriter::ControlWriter;

  // Writes the loop but for its last iteration, before the header of a parallel loop, where edges from outside arrive. Nothing
  // for other blocks.
  void share(size_t block);

 private:
  void run_loop(size_t number, const ParallelLoop& loop);
  void pass_symbols(size_t number, const ParallelLoop& loop);
  void back_up_written(const ParallelLoop& loop);
  int leaves(const ParallelLoop& loop) const;
};

// Temps of the control flow that the loop's blocks name.
std::vector<TempId> temps_of_loop(const Control& control, const ParallelLoop& loop);

}  // namespace accel
