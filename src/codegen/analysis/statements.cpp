#include "codegen/analysis/statements.h"

#include <algorithm>
#include <set>

namespace accel {

namespace {

void collect_buffers(const Body& body, std::set<BufferId>& out) {
  for (const Stmt& stmt : body) {
    if (stmt.address.buffer >= 0) out.insert(stmt.address.buffer);
    for (const CallOperand& operand : stmt.operands)
      if (operand.address.buffer >= 0) out.insert(operand.address.buffer);
    collect_buffers(stmt.body, out);
  }
}

void collect_traffic(const Program& program, const Body& body, std::set<BufferId>& stored, std::set<BufferId>& loaded) {
  for (const Stmt& stmt : body) {
    if (stmt.address.buffer >= 0) (is_store(stmt.kind) ? stored : loaded).insert(program.memory_of(stmt.address.buffer));
    for (const CallOperand& operand : stmt.operands) {
      if (operand.address.buffer < 0) continue;
      stored.insert(program.memory_of(operand.address.buffer));
      loaded.insert(program.memory_of(operand.address.buffer));
    }
    collect_traffic(program, stmt.body, stored, loaded);
  }
}

}  // namespace

bool is_of_roots(const Program& program, const Stmt& stmt) {
  if (stmt.kind != StmtKind::argreduce || stmt.body.empty()) return false;
  const Stmt& last = stmt.body.back();
  if (last.kind != StmtKind::compute || last.op != Op::sqrt || last.dst != stmt.args[0]) return false;
  auto dtype = [&](TempId temp) { return program.temps[static_cast<size_t>(temp)]; };
  return dtype(last.dst) == dtype(last.args[0]) && (dtype(last.dst) == DType::float64 || dtype(last.dst) == DType::float32);
}

std::optional<Dot> dot_of(const Program& program, const Stmt& stmt) {
  if (stmt.kind != StmtKind::gufunc || program.target.is_device()) return std::nullopt;
  const std::vector<DType>& dtypes = program.imports[static_cast<size_t>(stmt.import)].dtypes;
  if (dtypes != std::vector<DType>(3, DType::float64)) return std::nullopt;
  const std::vector<Dim>&extents = stmt.core_dims, &strides = stmt.core_strides;
  bool vectors = program.dims.is_constant(extents[0], 1) && program.dims.is_constant(extents.back(), 1);
  if (stmt.op != Op::vecdot && (stmt.op != Op::matmul || !vectors)) return std::nullopt;
  size_t first = stmt.op == Op::vecdot ? 0 : 1;
  Dot dot{0, 1, strides[first], strides[first + 1], extents[first]};
  if (!program.dims.is_constant(dot.column_stride, item_size(DType::float64))) return dot;
  return Dot{1, 0, dot.column_stride, dot.row_stride, dot.extent};
}

bool is_matrix_by_vector(const Program& program, const Stmt& stmt) {
  if (stmt.kind != StmtKind::gufunc || stmt.op != Op::matmul || stmt.extent.id >= 0 || program.target.is_device()) return false;
  const std::vector<DType>& dtypes = program.imports[static_cast<size_t>(stmt.import)].dtypes;
  bool real = dtypes == std::vector<DType>(3, DType::float64) || dtypes == std::vector<DType>(3, DType::float32);
  return real && !program.dims.is_constant(stmt.core_dims.front(), 1) && program.dims.is_constant(stmt.core_dims.back(), 1);
}

bool loads_what_it_stores(const Program& program, const Body& body) {
  std::set<BufferId> stored, loaded;
  collect_traffic(program, body, stored, loaded);
  return std::any_of(stored.begin(), stored.end(), [&](BufferId id) { return loaded.contains(id); });
}

std::vector<BufferId> buffers_of(const Body& body) {
  std::set<BufferId> out;
  collect_buffers(body, out);
  return {out.begin(), out.end()};
}

std::span<const Edge> edges_of(const ProgramBlock& block) {
  const size_t count = block.end == BlockEnd::exit ? 0 : block.end == BlockEnd::jump ? 1 : 2;
  return std::span(block.edges).first(count);
}

}  // namespace accel
