#include "capture/interpreter/opcodes/table.h"

namespace accel {

namespace {

std::vector<OpcodeHandler> make_table() {
  std::vector<OpcodeHandler> table(static_cast<size_t>(opcode_count()), nullptr);
  for (auto* family :
       {stack_ops, name_ops, operator_ops, container_ops, control_ops, call_ops, function_ops, exception_ops, generator_ops}) {
    for (const OpcodeRow& row : family()) table[static_cast<size_t>(row.op)] = row.handler;
  }
  return table;
}

}  // namespace

OpcodeHandler opcode_handler(Opcode op) {
  static const std::vector<OpcodeHandler> table = make_table();
  return table[static_cast<size_t>(op)];
}

}  // namespace accel
