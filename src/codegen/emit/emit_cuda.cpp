// emit_cuda: a Program for a device as one translation unit for the host and one for the device.

#include <algorithm>

#include "codegen/analysis/chunks.h"
#include "codegen/emit/control/control_function.h"
#include "codegen/emit/device/device_nests.h"
#include "codegen/emit/functions/kernel_entry.h"
#include "codegen/emit/prelude_parts.h"
#include "codegen/kernel_source.h"
#include "codegen/prelude.h"

namespace accel {

namespace {

// What the host runs of a program: its blocks and calls of libraries.
Program host_part(const Program& program) {
  Program host = program;
  std::erase_if(host.nests, [](const Nest& nest) { return nest.mapping != Mapping::library; });
  host.target = {};
  return host;
}

}  // namespace

Result<KernelSource> emit_cuda(const Program& program, const std::vector<int64_t>& hints) {
  Facts facts(program);
  Code host, functions;
  host.raw(prelude_part("library"));
  host.raw("namespace accel_kernel_text {\n");
  add_prelude(host, host_part(program));
  host.raw(prelude_part("device_abi"));
  host.raw(prelude_part("launch_choice"));
  host.raw(prelude_part("launches"));
  if (!program.blocks.empty()) host.raw(prelude_part("device_flow"));
  const bool has_order = has_nest_of(program, Mapping::ordered);
  for (const char* part : {"ordered", "ordered_launches"})
    if (has_order) host.raw(prelude_part(part));
  DeviceNests nests(program, hints);
  int copies = 0;
  for (const std::map<int, int64_t>& fixed : copies_of(program)) {
    Copy copy{program, facts, program.dims, fixed};
    if (!program.blocks.empty()) copy.all_events = 0;
    ACCEL_TRY(NestFunctions called, nests.add_copy(host, copy));
    std::string name = cat("run_", copies++);
    if (program.blocks.empty()) {
      add_runner(host, program, name, called);
    } else {
      ACCEL_TRY(std::string text, ControlFunction(copy, called, name).write_program());
      host.raw(text);
    }
  }
  add_entry(host, program, 0);
  host.raw("}  // namespace accel_kernel_text\n");
  Code device;
  device.raw("alignas(16) extern __shared__ unsigned char dynamic_shared[];\nnamespace accel_kernel_text {\n");
  add_prelude(device, program);
  device.raw(nests.device_text());
  const char* end = "}  // namespace accel_kernel_text\n";
  const std::string& others = nests.other_kernels();
  const DeferredChecks& checks = facts.deferred_checks();
  return KernelSource{host.text(),
                      program.imports,
                      {},
                      cat(device.text(), nests.likely_kernels(), end),
                      others.empty() ? "" : cat(device.text(), others, end),
                      nests.kernels(),
                      !checks.cells.empty(),
                      checks.are_in_loops,
                      find_chunks(program)};
}

}  // namespace accel
