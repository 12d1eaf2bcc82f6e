#pragma once
// MemoryWriter: memory of the control flow: allocation of buffers, and backups of arguments before they are written.

#include "codegen/emit/control/control_writer.h"

namespace accel {

class MemoryWriter : public ControlWriter {
 public:
  using ControlWriter::ControlWriter;

  // Allocates a buffer that a step is about to write.
  void allocate(BufferId id);
  // The text of the allocation, with `otherwise` for when it fails.
  std::string allocation_text(BufferId id, const std::string& otherwise);
  // Write the steps `grow` and `protect`; for protect, `step` is its position in the block.
  void grow(const BlockStep& step);
  void protect(size_t block, size_t step);
  // Writes the shape and strides of a buffer; returns the call that backs it up.
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
