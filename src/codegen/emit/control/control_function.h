#pragma once
// ControlFunction: the function that runs the blocks of a program (BlockWriter): scalar steps are its own statements, nests are
// called.
//
// Loops whose iterations threads share have functions of their own, with the loop's blocks once more and a frame that has what
// an iteration makes.

#include "codegen/emit/control/control.h"

namespace accel {

class ControlFunction {
 public:
  // `nests`: functions of this copy's nests in the order of Program::nests.
  ControlFunction(Copy& copy, const NestFunctions& nests, std::string name) : control_(copy, nests, std::move(name)) {}

  // Text of `static void <name>(Frame* frame, Backup* backups)`.
  Result<std::string> write_program();

 private:
  // A part of the iterations of one of the program's loops.
  ControlFunction(const Control& whole, const ParallelLoop& loop, std::string name) : control_(whole, loop, std::move(name)) {}
  Result<std::string> write_loops();
  Result<std::string> write_loop();
  void write_wrapper(Code& out);

  // loop_part.cpp: the function that threads call
  void write_part(Code& out);
  void write_frame(Code& out, const std::vector<BufferId>& memory);
  bool is_own(BufferId id) const;

  // The function of the blocks, from its head to its end.
  void open_blocks(Code& out, const std::string& parameters);
  void write_locals(Code& out);
  void close_blocks(Code& out);
  std::string blocks_text() const;
  std::string effort() const;

  Control control_;
};

}  // namespace accel
