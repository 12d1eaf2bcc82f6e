#include "codegen/emit/control/caller_writer.h"

#include "codegen/emit/control/edge_writer.h"

namespace accel {

bool is_received_output(const Program& program, const Stmt& stmt) {
  return stmt.kind == StmtKind::receive_array &&
         program.buffers[static_cast<size_t>(stmt.address.buffer)].kind == BufferKind::output;
}

void CallerWriter::write_call(const Stmt& stmt) {
  if (stmt.kind == StmtKind::interrupted) {
    if (control_.loop != nullptr) return;  // the calling thread polls between parts of the loop
    const std::string leaves = std::to_string(stmt.numbers[0]);
    return define(stmt,
                  cat(EdgeWriter(control_).poll_is_due(stmt.dst), " && (turns = turns_before_exit(frame, ", leaves, ")) == 0"));
  }
  std::vector<std::string> numbers;
  for (int number : stmt.numbers) numbers.push_back(std::to_string(number));
  if (stmt.kind == StmtKind::extent) return define(stmt, cat("extent_of(frame, ", listed(numbers), ")"));
  code_.open("");
  if (stmt.kind == StmtKind::draw) {
    draw(stmt, listed(numbers));
  } else if (stmt.kind == StmtKind::receive) {
    code_.line("char memory[16];");
    stop_unless(cat("receive(frame, ", listed(numbers), ", memory, nullptr)"));
    define(stmt, cat("load_", type(stmt.dst), "(memory)"));
  } else if (stmt.kind == StmtKind::receive_array) {
    code_.line(cat("const i64 dims[] = {", stmt.core_dims.empty() ? "0" : "", dims_text(stmt.core_dims), "};"));
    receive_array(stmt, listed(numbers));
  } else {
    boxed_call(stmt, listed(numbers));
  }
  code_.close();
}

void CallerWriter::draw(const Stmt& stmt, const std::string& numbers) {
  code_.line(cat(type(stmt.dst), " drawn;"));
  control_.has_draws = true;
  std::string drawn = cat("draw(frame, &status, ", control_.events, ", draws, ", numbers, ", &drawn");
  for (TempId arg : stmt.args) drawn += ", " + temp_name(arg);
  stop_unless(drawn + ")");
  define(stmt, "drawn");
}

void CallerWriter::receive_array(const Stmt& stmt, const std::string& numbers) {
  BufferId id = stmt.address.buffer;
  if (!is_received_output(program_, stmt)) return stop_unless(cat("receive(frame, ", numbers, ", ", buffer(id), ", dims)"));
  stop_unless(cat("receive_output(frame, ", id, ", ", numbers, ", ", buffer_info(id).binding, ", dims)"));
  control_.allocated.insert(id);
  refresh(id);
}

void CallerWriter::boxed_call(const Stmt& stmt, const std::string& number) {
  std::vector<std::string> operands;
  size_t next = 0;
  for (const CallOperand& operand : stmt.operands) {
    if (operand.address.buffer >= 0) {
      operands.push_back(buffer(operand.address.buffer));
      continue;
    }
    TempId temp = stmt.args[next++];
    std::string memory = cat("a", static_cast<long>(operands.size()));
    code_.line(cat("char ", memory, "[16];"));
    code_.line(cat("store_", type(temp), "(", memory, ", ", temp_name(temp), ");"));
    operands.push_back(memory);
  }
  std::vector<Dim> dims = stmt.core_dims;
  dims.insert(dims.end(), stmt.core_strides.begin(), stmt.core_strides.end());
  code_.line(cat("const void* const operands[] = {", operands.empty() ? "nullptr" : listed(operands), "};"));
  code_.line(cat("const i64 dims[] = {", dims.empty() ? "0" : dims_text(dims), "};"));
  if (stmt.kind == StmtKind::boxed) {
    stop_unless(cat("call_boxed(frame, &status, ", control_.events, ", ", number, ", operands, dims)"));
  } else {
    stop_unless(cat("!must_stop(frame, ", events_text(), ")"));
    stop_unless(cat("call_python(frame, backups, ", static_cast<long>(control_.protected_buffers.size()), ", ", number,
                    ", operands, dims)"));
  }
  define(stmt, "0");
}

}  // namespace accel
