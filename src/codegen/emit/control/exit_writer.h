#pragma once
// ExitWriter: exits of the control flow and their outputs. Numbers that many exits share are written to memory where they are
// computed, and each exit has a table of their slots: the changes to the table of the previous exit.

#include "codegen/emit/control/control_writer.h"

namespace accel {

class ExitWriter : public ControlWriter {
 public:
  using ControlWriter::ControlWriter;

  void exit(const ProgramBlock& block);
  // The tables of all exits that have been written.
  void write_tables(Code& out) const;

 private:
  void hand_over(const ExitOutput& output);
  void give_by_table(const ProgramBlock& block);
  ExitTable table_of(const std::vector<ExitOutput>& outputs) const;
};

// Numbers that exits read from memory, and their slots there; empty: each exit writes its own numbers.
std::map<TempId, int> homes_of_exits(const Program& program);

}  // namespace accel
