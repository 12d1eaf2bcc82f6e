// The list of stages, in order.

#include "compile.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <optional>

#include "ir/edit.h"
#include "ir/text/text.h"
#include "schedule/program/program.h"
#include "toolchain/device_code.h"

namespace accel {

namespace {

// A graph after the passes, and its program.
struct Scheduled {
  Graph graph;
  std::vector<StepRecord> passes;
  Schedule schedule;
};

Result<Scheduled> schedule_graph(Graph graph, const CompileOptions& options) {
  Scheduled made;
  StepOptions step_options;
  step_options.keep_text = options.keep_texts;
  ACCEL_TRY(made.passes, run_passes(graph, step_options));
  if (is_interrupted()) return fail(Reason::interrupted, {});
  ACCEL_TRY(made.schedule, schedule(graph, step_options));
  made.graph = std::move(graph);
  return made;
}

bool asks(const Graph& graph, ValueId v) { return !graph.is_input(v) && graph.producer(v).op == Op::interrupted; }

// Without the exits that interrupted runs take from branches of their own; nullopt when there are none.
std::optional<Graph> without_interrupts(const Graph& graph) {
  Graph plain = graph;
  std::vector<bool> gone(graph.blocks.size(), false);
  for (Block& block : plain.blocks) {
    Terminator& end = block.terminator;
    if (end.kind != TerminatorKind::branch || !asks(plain, end.operands[0])) continue;
    const Terminator& exit = plain.blocks[static_cast<size_t>(end.targets[0])].terminator;
    std::vector<Type>& types = plain.closed_exits[exit.exit];
    for (ValueId v : exit.operands) types.push_back(plain.type(v));
    gone[static_cast<size_t>(end.targets[0])] = true;
    const NodeId question = plain.values[static_cast<size_t>(end.operands[0])].producer;
    std::erase(block.nodes, question);
    Terminator jump;
    jump.kind = TerminatorKind::jump;
    jump.targets[0] = end.targets[1];
    jump.target_arguments[0] = std::move(end.target_arguments[1]);
    end = std::move(jump);
  }
  if (std::none_of(gone.begin(), gone.end(), [](bool each) { return each; })) return std::nullopt;
  remove_blocks(plain, gone);
  return plain;
}

int tiled_loops(const Body& body) {
  int count = 0;
  for (const Stmt& stmt : body) count += (stmt.kind == StmtKind::repeat) + tiled_loops(stmt.body);
  return count;
}

// Loops of the control flow that threads share, or that run tile by tile.
int fast_loops(const Program& program) {
  int count = static_cast<int>(program.parallel_loops.size());
  for (const Nest& nest : program.nests) count += tiled_loops(nest.body);
  return count;
}

// Exits for interrupted runs hand the state between two iterations over, which loops of the fastest kinds never have.
Result<Scheduled> schedule_best(Graph graph, const CompileOptions& options) {
  std::optional<Graph> plain = without_interrupts(graph);
  ACCEL_TRY(Scheduled made, schedule_graph(std::move(graph), options));
  if (!plain) return made;
  ACCEL_TRY(Scheduled other, schedule_graph(std::move(*plain), options));
  return fast_loops(other.schedule.program) > fast_loops(made.schedule.program) ? std::move(other) : std::move(made);
}

void note_stores(const Program& program, const Body& body, std::vector<bool>& written) {
  for (const Stmt& stmt : body) {
    if (is_store(stmt.kind)) {
      const Buffer& buffer = program.buffers[static_cast<size_t>(program.memory_of(stmt.address.buffer))];
      if (buffer.kind == BufferKind::input) written[static_cast<size_t>(buffer.binding)] = true;
    }
    note_stores(program, stmt.body, written);
  }
}

// Compiles the text for the device while another thread compiles that for the host.
Result<DeviceCode> compile_for_device(const Program& program, const KernelSource& source, int architecture,
                                      std::shared_ptr<const CompiledKernel>& kernel) {
  DeviceCode code;
  code.source = source.device_text;
  code.other_source = source.other_text;
  code.kernels = source.kernels;
  code.written_inputs.assign(static_cast<size_t>(program.input_count), false);
  for (const Nest& nest : program.nests) note_stores(program, nest.body, code.written_inputs);
  code.has_deferred_checks = source.has_deferred_checks;
  code.has_checks_in_loops = source.has_checks_in_loops;
  code.chunks = source.chunks;
  auto cubin = std::async(std::launch::async, [&]() -> Result<std::string> {
    return source.kernels.empty() ? Result<std::string>(std::string()) : compile_device_code(source.device_text, architecture);
  });
  Result<std::shared_ptr<const CompiledKernel>> made = compile_kernel(source);
  ACCEL_TRY(code.cubin, cubin.get());
  ACCEL_TRY(kernel, std::move(made));
  return code;
}

}  // namespace

Result<Compilation> compile(Graph graph, const CompileOptions& options) {
  auto start = std::chrono::steady_clock::now();
  Compilation made;
  graph.target = options.target;
  graph.records_events = options.record_events;
  ACCEL_TRY(Scheduled scheduled, schedule_best(std::move(graph), options));
  const Program& program = scheduled.schedule.program;
  ACCEL_TRY(KernelSource source, options.target.is_device()
                                     ? emit_cuda(program, scheduled.graph.hints)
                                     : emit_cpp(program, options.quiet_comparisons || options.record_events));
  if (options.target.is_device()) {
    ACCEL_TRY(made.device_code, compile_for_device(program, source, options.architecture, made.kernel));
  } else {
    ACCEL_TRY(made.kernel, compile_kernel(source));
  }

  made.loop_summaries = summarise_loops(program);
  if (options.keep_texts) made.program_text = print_program(program);
  made.source = std::move(source.text);
  made.passes = std::move(scheduled.passes);
  made.steps = std::move(scheduled.schedule.steps);
  made.schedule_notes = std::move(scheduled.schedule.notes);
  made.graph = std::move(scheduled.graph);
  made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return made;
}

}  // namespace accel
