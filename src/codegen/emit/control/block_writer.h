#pragma once
// BlockWriter: one block of a program: its steps (scalar statements, calls of nests, memory) and its end.

#include "codegen/emit/control/control_writer.h"

namespace accel {

class BlockWriter : public ControlWriter {
 public:
  using ControlWriter::ControlWriter;

  void write_block(size_t number);

 private:
  void write_step(size_t block, size_t number);
  void scalars(const BlockStep& step);
  void scalar(const BlockStep& step, size_t position);
  void forget_panels(const Stmt& stmt);
  void run(const BlockStep& step);
  void write_bound_symbols(const Nest& nest);
  void call_nest(size_t number);
  void branch(size_t number);
};

}  // namespace accel
