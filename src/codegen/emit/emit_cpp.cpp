// emit_cpp: a Program as one C++ translation unit.

#include "codegen/emit/control/control_function.h"
#include "codegen/emit/functions/kernel_entry.h"
#include "codegen/emit/functions/nest_texts.h"
#include "codegen/emit/prelude_parts.h"
#include "codegen/kernel_source.h"
#include "codegen/prelude.h"

namespace accel {

namespace {

int events_of(const Program& program, const Facts& facts) {
  int bits = 0;
  for (const Nest& nest : program.nests) bits |= facts.events(nest.body);
  for (const ProgramBlock& block : program.blocks)
    for (const BlockStep& step : block.steps) bits |= facts.events(step.body);
  return bits;
}

}  // namespace

Result<KernelSource> emit_cpp(const Program& program, bool quiet_comparisons) {
  Facts facts(program, quiet_comparisons);
  Code out;
  if (quiet_comparisons) out.raw("#define ACCEL_QUIET_COMPARISONS 1\n");
  out.raw(prelude_part("library"));
  out.raw("namespace accel_kernel_text {\n");
  add_prelude(out, program);
  NestTexts texts(program);
  int copies = 0;
  for (const std::map<int, int64_t>& fixed : copies_of(program)) {
    Copy copy{program, facts, program.dims, fixed};
    if (!program.blocks.empty()) copy.all_events = program.records_events ? 0 : events_of(program, facts);
    ACCEL_TRY(NestFunctions nests, texts.add_copy(out, copy));
    std::string name = cat("run_", copies++);
    if (program.blocks.empty()) {
      add_runner(out, program, name, nests);
    } else {
      ACCEL_TRY(std::string text, ControlFunction(copy, nests, name).write_program());
      out.raw(text);
    }
  }
  add_entry(out, program, facts.panel_count());
  out.raw("}  // namespace accel_kernel_text\n");
  return KernelSource{out.text(), program.imports};
}

}  // namespace accel
