#include "cpython/bytecode/with_statement.h"

namespace accel {

namespace {

const Instruction& at(const Bytecode& bytecode, int index) { return bytecode.instructions[static_cast<size_t>(index)]; }

// Loads of special methods are the second and the fifth instruction, the call is the sixth.
int position_in_with(const Bytecode& bytecode, int index) {
  const Instruction& instruction = at(bytecode, index);
  if (is_call_of_enter(bytecode, index)) return 6;
  if (instruction.op == Opcode::before_with) return 1;
  if (instruction.op != Opcode::load_special) return 0;
  if (instruction.arg == special_exit) return 2;
  return instruction.arg == special_enter ? 5 : 0;
}

}  // namespace

bool is_call_of_enter(const Bytecode& bytecode, int index) {
  return index > 0 && at(bytecode, index).op == Opcode::call && at(bytecode, index - 1).op == Opcode::load_special &&
         at(bytecode, index - 1).arg == special_enter;
}

int call_of_manager(const Bytecode& bytecode, int index) {
  const int position = position_in_with(bytecode, index);
  return position > 0 ? index - position : -1;
}

}  // namespace accel
