#pragma once
// MemoryWriter: memory of the control flow: where buffers get some, and what is kept of arguments before it is written.

#include "codegen/emit/control/control_writer.h"

namespace accel {

class MemoryWriter : public ControlWriter {
 public:
  using ControlWriter::ControlWriter;

  // Gives a buffer memory that a step is about to write.
  void allocate(BufferId id);
  // The text that does so, with `otherwise` for where there is none.
  std::string allocation_text(BufferId id, const std::string& otherwise);
  // The steps of these kinds; protect: number `step` of the block.
  void grow(const BlockStep& step);
  void protect(size_t block, size_t step);
  // Writes where the elements of a buffer lie; returns the call that keeps them.
  std::string backup_call(const std::string& backup, BufferId id);

 private:
  bool allocates_by_call() const;
  bool are_sizes_known_after(size_t block, size_t step);
  std::string allocate_memory_after(size_t block, size_t step, std::string condition);
  void back_up_input(BufferId id);
};

// Whether the buffer is the result's own memory.
bool is_in_place(const Program& program, const ExitOutput& output);

}  // namespace accel
