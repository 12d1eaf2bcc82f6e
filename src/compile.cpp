// The list of stages, in order.

#include "compile.h"

#include <chrono>

#include "ir/text.h"
#include "schedule/program.h"

namespace accel {

Result<Compilation> compile(Graph graph, const CompileOptions& options) {
  auto start = std::chrono::steady_clock::now();
  Compilation made;
  PassOptions pass_options;
  pass_options.keep_text = options.keep_texts;

  ACCEL_TRY(made.passes, run_passes(graph, options.target, pass_options));
  ACCEL_TRY(Program program, schedule(graph, &made.schedule_notes));
  ACCEL_TRY(KernelSource source, emit_cpp(program, options.quiet_comparisons));
  ACCEL_TRY(made.kernel, compile_kernel(source));

  made.loop_summaries = summarise_loops(program);
  if (options.keep_texts) made.program_text = print_program(program);
  made.source = std::move(source.text);
  made.graph = std::move(graph);
  made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return made;
}

}  // namespace accel
