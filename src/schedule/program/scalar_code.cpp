#include "schedule/program/scalar_code.h"

#include <algorithm>

#include "ir/op.h"

namespace accel {

namespace {

bool names_buffer(const Stmt& stmt, BufferId id) {
  return stmt.address.buffer == id ||
         std::any_of(stmt.operands.begin(), stmt.operands.end(),
                     [&](const CallOperand& o) { return o.address.buffer == id; }) ||
         std::any_of(stmt.body.begin(), stmt.body.end(), [&](const Stmt& inner) { return names_buffer(inner, id); });
}

}  // namespace

bool is_scalar_code(const Body& body) {
  return std::all_of(body.begin(), body.end(), [](const Stmt& stmt) {
    return is_number(stmt.kind) || (is_store(stmt.kind) && stmt.body.empty()) || stmt.kind == StmtKind::gather;
  });
}

bool is_indexed_scalar_code(const Body& body) {
  return std::all_of(body.begin(), body.end(),
                     [](const Stmt& stmt) { return is_number(stmt.kind) || stmt.kind == StmtKind::store; });
}

bool is_scalar_local(const DimTable& dims, const Program& program, BufferId id) {
  const Buffer& buffer = program.buffers[static_cast<size_t>(id)];
  if (buffer.kind != BufferKind::temp || !dims.is_constant(buffer.elements, 1)) return false;
  return std::all_of(program.nests.begin(), program.nests.end(), [&](const Nest& nest) {
    bool is_scalar = is_scalar_code(nest.body);
    return std::none_of(nest.body.begin(), nest.body.end(), [&](const Stmt& stmt) {
      if (!names_buffer(stmt, id)) return false;
      bool moves = stmt.kind == StmtKind::load || stmt.kind == StmtKind::store;
      return !is_scalar || !moves || stmt.dtype != buffer.dtype;
    });
  });
}

bool needs_loop_of_numpy(const Stmt& stmt) {
  const bool has_text = stmt.op == Op::real || stmt.op == Op::imag || *op_info(stmt.op).cpp != '\0';
  return stmt.kind == StmtKind::compute && !has_text;
}

}  // namespace accel
