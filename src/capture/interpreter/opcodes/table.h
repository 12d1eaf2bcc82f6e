#pragma once
// The table of instruction handlers. Each family of opcodes has its file: <family>.cpp here, and ../generators.cpp.

#include "capture/interpreter/interpreter.h"

namespace accel {

OpcodeHandler opcode_handler(Opcode op);

// One row of a family's table.
struct OpcodeRow {
  Opcode op;
  OpcodeHandler handler;
};
using OpcodeTable = std::vector<OpcodeRow>;

// Pushes a method of `owner` for a call: a plain one as the pair function, owner; another callable as for a call without a
// receiver.
void push_method(Step& step, const Ref& value, const Ref& owner);

const OpcodeTable& stack_ops();
const OpcodeTable& name_ops();
const OpcodeTable& operator_ops();
const OpcodeTable& container_ops();
const OpcodeTable& control_ops();
const OpcodeTable& call_ops();
const OpcodeTable& function_ops();
const OpcodeTable& exception_ops();
const OpcodeTable& generator_ops();

}  // namespace accel
