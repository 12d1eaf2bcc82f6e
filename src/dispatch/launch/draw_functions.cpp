#include "dispatch/launch/draw_functions.h"

#include <Python.h>
#include <sys/stat.h>

#include <memory>
#include <string>
#include <utility>

#include "capture/product/rng_functions.h"
#include "codegen/prelude.h"
#include "dispatch/launch/draw_text.h"
#include "dispatch/signals/unlocked.h"
#include "ndarray/random.h"
#include "toolchain/compiled_kernel.h"

namespace accel {
namespace {

std::string type_text(DType dtype) { return dtype == DType::int64 ? "long" : "double"; }

// The text of a kernel that only writes the addresses of the functions to its outputs.
std::string library_text() {
  std::string declared, body;
  for (const char* part : {"abi", "types", "elements", "layers"}) declared += prelude_part(part);
  declared += made_functions;
  for (size_t row = 0; row < draw_infos().size(); ++row) {
    const DrawInfo& info = draw_infos()[row];
    std::string name = info.function, operands = "void*";
    for (size_t k = 0; k < info.parameters.size(); ++k) operands += ", " + type_text(info.operands);
    if (!name.starts_with("draw_")) declared += "extern \"C\" " + type_text(info.result) + " " + name + "(" + operands + ");\n";
    body += "  functions[" + std::to_string(row) + "] = (void*)" + name + ";\n";
  }
  body += "  functions[" + std::to_string(draw_infos().size()) + "] = knows_layers ? &normal : nullptr;\n";
  return declared + "extern \"C\" __attribute__((visibility(\"default\"))) int accel_kernel(const AccelLaunch* launch) {\n" +
         "  learn_layers();\n  void** const functions = (void**)launch->outputs[0];\n" + body + "  return 0;\n}\n";
}

Result<std::vector<void*>> find_functions() {
  KernelSource source{library_text(), {}, draw_library()};
  struct stat facts;
  if (source.archive.empty() || stat(source.archive.c_str(), &facts) != 0) return std::vector<void*>();
  auto library = call_unlocked([&] { return compile_kernel(source); });
  if (!library.ok() && library.failure().reason == Reason::interrupted) return library.failure();
  if (!library.ok()) return std::vector<void*>();
  std::vector<void*> functions(draw_infos().size() + 1);
  void* outputs[] = {functions.data()};
  AccelLaunch launch{};
  launch.outputs = outputs;
  (*library)->entry()(&launch);
  static auto* const loaded = new std::vector<std::shared_ptr<const CompiledKernel>>;  // never unloaded
  loaded->push_back(*library);
  return functions;
}

}  // namespace

// Uses no lock, as the GIL may be released meanwhile: two threads may both search.
Result<const std::vector<void*>*> draw_functions() {
  static const std::vector<void*>* found = nullptr;
  if (found == nullptr) {
    ACCEL_TRY(std::vector<void*> functions, find_functions());
    if (found == nullptr) found = new std::vector<void*>(std::move(functions));
  }
  return found;
}

}  // namespace accel
