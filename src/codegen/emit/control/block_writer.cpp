#include "codegen/emit/control/block_writer.h"

#include <algorithm>

#include "codegen/analysis/block_memory.h"
#include "codegen/emit/control/caller_writer.h"
#include "codegen/emit/control/edge_writer.h"
#include "codegen/emit/control/exit_writer.h"
#include "codegen/emit/control/memory_writer.h"
#include "codegen/emit/control/parallel_loop_writer.h"
#include "codegen/emit/events/event_sites.h"
#include "codegen/emit/statements/statement_writer.h"

namespace accel {

namespace {

void collect_dims(const Body& body, std::vector<Dim>& out) {
  for (const Stmt& stmt : body) {
    for (Dim d : {stmt.extent, stmt.address.offset, stmt.dim})
      if (d.id >= 0) out.push_back(d);
    for (const CallOperand& operand : stmt.operands) {
      out.push_back(operand.address.offset);
      if (operand.stride.id >= 0) out.push_back(operand.stride);
    }
    out.insert(out.end(), stmt.core_dims.begin(), stmt.core_dims.end());
    out.insert(out.end(), stmt.core_strides.begin(), stmt.core_strides.end());
    collect_dims(stmt.body, out);
  }
}

// Whether a body may raise flags of the hardware that are no events of NumPy's: comparisons of NaNs do.
bool touches_flags(const Program& program, const Body& body) {
  return std::any_of(body.begin(), body.end(), [&](const Stmt& stmt) {
    bool computes = stmt.kind == StmtKind::compute || stmt.kind == StmtKind::fold || stmt.kind == StmtKind::argreduce;
    char kind = stmt.args.empty() ? 'i' : dtype_kind(program.temps[static_cast<size_t>(stmt.args[0])]);
    return (computes && (kind == 'f' || kind == 'c')) || touches_flags(program, stmt.body);
  });
}

bool may_stop(const Body& body) {
  return std::any_of(body.begin(), body.end(), [](const Stmt& stmt) {
    return stmt.loop_kind == LoopKind::parallel || stmt.divide_work || !stmt.operands.empty() || may_stop(stmt.body);
  });
}

// Whether a branch other than that at the header of a loop decides that the block runs.
bool is_under_branch(const std::vector<ProgramBlock>& blocks, size_t number) {
  auto leads_to = [](const ProgramBlock& from, size_t to) {
    return std::any_of(std::begin(from.edges), std::end(from.edges),
                       [&](const Edge& edge) { return edge.target == static_cast<int>(to); });
  };
  for (size_t from = 0; from < blocks.size(); ++from) {
    if (blocks[from].end != BlockEnd::branch || !leads_to(blocks[from], number)) continue;
    bool is_header = false;
    for (size_t later = from; later < blocks.size(); ++later) is_header |= leads_to(blocks[later], from);
    if (!is_header) return true;
  }
  return false;
}

bool reads_memory(const Stmt& stmt) { return stmt.kind == StmtKind::load; }

// What has to be true before the host reads cells that kernels write; empty: nothing.
std::string condition_of_reads(const Facts& facts, const Body& body) {
  auto waits = [&](const Stmt& stmt) { return reads_memory(stmt) && !facts.is_deferred_check(stmt.address.buffer); };
  if (std::none_of(body.begin(), body.end(), reads_memory)) return "";
  return std::any_of(body.begin(), body.end(), waits) ? "wait_for_kernels(frame)"
                                                      : "defers_checks(frame) || wait_for_kernels(frame)";
}

// Whether g++ takes an operation of the block, which has events, for one without: roots, and products that are fused.
bool has_hidden_events(const ProgramBlock& block) {
  auto hides = [&](const Stmt& stmt) {
    return stmt.kind == StmtKind::compute && !stmt.quiet && (stmt.op == Op::sqrt || dtype_kind(stmt.dtype) == 'c');
  };
  return std::any_of(block.steps.begin(), block.steps.end(), [&](const BlockStep& step) {
    return step.kind == StepKind::scalars && std::any_of(step.body.begin(), step.body.end(), hides);
  });
}

}  // namespace

// Blocks that leave for the interpreter are marked as cold code.
void BlockWriter::write_block(size_t number) {
  const ProgramBlock& block = program_.blocks[number];
  control_.allocated = control_.allocated_at_start[number];
  if (!control_.loop) ParallelLoopWriter(control_).share(number);
  bool rare = block.end == BlockEnd::exit && block.exit > 0;
  if (control_.polls.strips.contains(number)) EdgeWriter(control_).begin_strip(number);
  if (number > 0) code_.line(cat("l", static_cast<long>(number), ":", rare ? " __attribute__((cold));" : ""));
  code_.open("");
  const bool is_conditional = is_under_branch(program_.blocks, number) && has_hidden_events(block);
  if (is_conditional) code_.line("asm volatile(\"\");");  // not done on other paths
  for (size_t k = 0; k < block.steps.size(); ++k) write_step(number, k);
  if (block.end == BlockEnd::exit) ExitWriter(control_).exit(block);
  if (block.end == BlockEnd::jump) EdgeWriter(control_).go(number, 0);
  if (block.end == BlockEnd::branch) branch(number);
  code_.close();
}

void BlockWriter::branch(size_t number) {
  const ProgramBlock& block = program_.blocks[number];
  const ParallelLoop* loop = control_.loop;
  EdgeWriter edges(control_);
  if (loop && static_cast<size_t>(loop->header) == number) {
    code_.line("if (count-- == 0) goto done;");
    return edges.go(number, 0);
  }
  if (control_.polls.strips.contains(number)) return edges.end_strip(number);
  if (loop && polls_explicitly(block)) return edges.go(number, 1);  // the calling thread polls, between parts of the loop
  code_.open(cat("if (", temp_name(block.condition), ")"));
  if (block.is_guessed) code_.line("asm volatile(\"\");");  // nothing that g++ could do on both paths
  edges.go(number, 0);
  code_.close();
  if (polls_explicitly(block)) {  // the run may continue from the exit
    code_.line(cat("goto c", static_cast<long>(number), ";"));
    code_.close();
    code_.line(cat("c", static_cast<long>(number), ":"));
    code_.open("");
  }
  edges.go(number, 1);
}

// --- steps ------------------------------------------------------------------------------------------------------------

void BlockWriter::write_step(size_t block, size_t number) {
  const BlockStep& step = program_.blocks[block].steps[number];
  switch (step.kind) {
    case StepKind::scalars:
      return scalars(step);
    case StepKind::protect:
      return MemoryWriter(control_).protect(block, number);
    case StepKind::grow:
      return MemoryWriter(control_).grow(step);
    default:
      return run(step);
  }
}

void BlockWriter::scalars(const BlockStep& step) {
  std::set<BufferId> written = buffers_written(program_, step);
  for (const Stmt& stmt : step.body)
    if (is_received_output(program_, stmt)) written.erase(stmt.address.buffer);
  for (BufferId id : written) MemoryWriter(control_).allocate(id);
  const std::string condition = program_.target.is_device() ? condition_of_reads(copy_.facts, step.body) : "";
  if (!condition.empty()) stop_unless(condition);
  for (size_t k = 0; k < step.body.size(); ++k) {
    scalar(step, k);
    if (step.body[k].kind != StmtKind::bind) save(step.body[k].dst);
    forget_panels(step.body[k]);
  }
}

void BlockWriter::scalar(const BlockStep& step, size_t position) {
  const Stmt& stmt = step.body[position];
  // The length of a slice follows from the time that the previous one took: its kernels must have ended.
  if (stmt.kind == StmtKind::slice && program_.target.is_device()) stop_unless("wait_for_kernels(frame)");
  if (stmt.kind == StmtKind::bind)
    code_.line(cat(dim(stmt.dim), " = ", temp_name(stmt.args[0]), ";"));
  else if (stmt.kind == StmtKind::slice)
    define(stmt, cat("slice_of(frame, ", temp_name(stmt.args[0]), ", ", dim(stmt.extent), ", ", dim(stmt.dim), ")"));
  else if (is_for_caller(stmt.kind))
    CallerWriter(control_).write_call(stmt);
  else
    StatementWriter(emission_).write_at(step.body, position);
}

// Invalidates the columns of products that are computed ahead (prelude part "dot") where their operands may have changed.
void BlockWriter::forget_panels(const Stmt& stmt) {
  int panels = copy_.facts.panel_count();
  if (panels == 0) return;
  if (is_store(stmt.kind) && buffer_info(names_.memory_of(stmt.address.buffer)).kind == BufferKind::input) {
    std::string to = stmt.kind == StmtKind::store ? address(stmt.address) : names_.indexed_address(stmt, 1);
    code_.line(cat("forget_panels(frame, ", panels, ", ", to, ");"));
  } else if (is_for_caller(stmt.kind) && stmt.kind != StmtKind::interrupted) {
    code_.line(cat("forget_panels(frame, ", panels, ");"));
  }
}

// --- nests ------------------------------------------------------------------------------------------------------------

void BlockWriter::run(const BlockStep& step) {
  size_t number = static_cast<size_t>(step.nest);
  const Nest& nest = program_.nests[number];
  for (BufferId id : buffers_written(program_, step)) MemoryWriter(control_).allocate(id);
  write_bound_symbols(nest);
  bool apart = control_.events != 0 && copy_.facts.events(nest.body) == 0 && touches_flags(program_, nest.body);
  if (apart) code_.open("");
  if (apart) code_.line("const auto flags = fp_control();");
  const Stmt* repeat = program_.records_events ? EventSites(emission_).repeat_in(nest.body) : nullptr;
  if (repeat != nullptr) {
    code_.open("");
    code_.line(cat("const i64 iterations = ", dim(repeat->extent), ";"));
    stop_unless("begin_rows(frame, iterations)");
  }
  call_nest(number);
  if (repeat != nullptr) {
    code_.line("end_rows(frame, iterations);");
    code_.close();
  }
  if (copy_.facts.panel_count() > 0 && copy_.facts.panel_of(nest) < 0)
    code_.line(cat("forget_panels(frame, ", copy_.facts.panel_count(), ");"));
  if (apart) code_.line("fp_set_control(flags);");
  if (apart) code_.close();
  bool heap = std::any_of(program_.buffers.begin(), program_.buffers.end(),
                          [](const Buffer& b) { return b.kind == BufferKind::scratch; });
  if (heap || may_stop(nest.body)) stop_unless("!failed(frame)");
}

// Symbols that the nest reads from the frame, and that blocks bind.
void BlockWriter::write_bound_symbols(const Nest& nest) {
  std::vector<Dim> dims = {nest.work.id >= 0 ? nest.work : copy_.dims.constant(0)};
  collect_dims(nest.body, dims);
  for (BufferId id : buffers_of(nest.body)) dims.push_back(buffer_info(id).elements);
  std::set<int> bound;
  for (Dim d : dims)
    for (int symbol : copy_.dims.symbols(d))
      if (program_.is_bound(symbol)) bound.insert(symbol);
  for (int symbol : bound) {
    names_.use_symbol(symbol);
    code_.line(cat("symbols[", symbol, "] = s", symbol, ";"));
  }
}

void BlockWriter::call_nest(size_t number) {
  std::string otherwise;
  for (const NestFunction& function : control_.nests[number]) {
    std::string condition;
    for (const auto& [symbol, value] : function.fixed)
      condition += cat(condition.empty() ? "" : " && ", dim(copy_.dims.symbol(symbol)), " == ", static_cast<long>(value));
    std::vector<std::string> arguments = {"frame", "&status"};
    for (BufferId id : function.buffers) arguments.push_back(buffer(names_.memory_of(id)));
    for (TempId temp : nest_parameters(copy_.facts, program_.nests[number])) arguments.push_back(temp_name(temp));
    for (const std::string& text : function.dims) arguments.push_back(dim(*copy_.dims.parse(text)));
    std::string test = condition.empty() ? "" : cat("if (", condition, ") ");
    code_.line(cat(otherwise, test, function.name, "_body(", listed(arguments), ");"));
    otherwise = "else ";
  }
}

}  // namespace accel
