#include "cpython/bytecode/borrowed_values.h"

#include <algorithm>

namespace accel {

namespace {

bool goes_on(const Instruction& instruction) { return opcode_flow(instruction.op) == Flow::next; }

// The first instruction of the basic block that `index` is in: borrowed values are used in the block that loads them.
int block_start(const Bytecode& bytecode, int index) {
  int start = index;
  while (start > 0 && goes_on(bytecode.instructions[static_cast<size_t>(start) - 1])) --start;
  for (const Instruction& instruction : bytecode.instructions)
    if (instruction.target <= index) start = std::max(start, instruction.target);
  for (const Handler& handler : bytecode.handlers)
    if (handler.target <= index) start = std::max(start, handler.target);
  return start;
}

// Applies an instruction to `known`: for each of the topmost values on the stack the local that it borrows from, -1 for none.
// Statements do not begin or end within an expression, so the value that an instruction leaves on top is its own result.
void apply(const Instruction& instruction, std::vector<int>& known) {
  const auto at = [&](int position) -> int& { return known[known.size() - static_cast<size_t>(position)]; };
  const int size = static_cast<int>(known.size());
  const int effect = stack_effect(instruction, false);
  switch (instruction.op) {
    case Opcode::load_fast:
      known.push_back(instruction.arg2 != 0 ? instruction.arg : -1);
      return;
    case Opcode::copy:
      known.push_back(instruction.arg <= size ? at(instruction.arg) : -1);
      return;
    case Opcode::swap:
      if (instruction.arg <= size)
        std::swap(at(1), at(instruction.arg));
      else if (size > 0)
        at(1) = -1;
      return;
    case Opcode::load_method:
    case Opcode::load_special:  // the owner stays on top
      known.insert(known.end() - std::min(size, 1), -1);
      return;
    case Opcode::store_fast:
    case Opcode::pop_top:
      if (size > 0) known.pop_back();
      return;
    default:
      known.resize(static_cast<size_t>(std::max(size + effect, 0)), -1);
      if (!known.empty()) known.back() = -1;
  }
}

}  // namespace

std::vector<int> borrowed_values(const Bytecode& bytecode, int index, int size) {
  std::vector<int> out(static_cast<size_t>(size), -1);
  if (!has_borrowed_values) return out;
  std::vector<int> known;
  for (int k = block_start(bytecode, index); k < index; ++k) apply(bytecode.instructions[static_cast<size_t>(k)], known);
  const size_t count = std::min(known.size(), out.size());
  std::copy(known.end() - static_cast<std::ptrdiff_t>(count), known.end(), out.end() - static_cast<std::ptrdiff_t>(count));
  return out;
}

bool rebinds_local(const Bytecode& bytecode, int local) {
  return std::any_of(bytecode.instructions.begin(), bytecode.instructions.end(), [&](const Instruction& instruction) {
    const Opcode op = instruction.op;
    const bool stores =
        op == Opcode::store_fast || op == Opcode::delete_fast || op == Opcode::make_cell || op == Opcode::load_fast_and_clear;
    return stores && instruction.arg == local;
  });
}

}  // namespace accel
