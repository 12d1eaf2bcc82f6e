// The stages behind capture one by one, from text to text: for tests and for looking at what they do.

#include "bind/bind.h"
#include "bind/convert.h"
#include "codegen/kernel_source.h"
#include "ir/analysis/flow.h"
#include "ir/analysis/verifier.h"
#include "ir/text/text.h"
#include "passes/passes.h"
#include "schedule/schedule.h"

namespace accel {
namespace {

template <class Value>
Value checked(Result<Value> result) {
  if (!result.ok()) throw py::value_error(result.failure().detail);
  return std::move(result.value());
}

// Throws unless the product's text says the same again.
template <class Product>
void check_text(const Product& product, Result<Product> (*parse)(std::string_view), std::string (*print)(const Product&)) {
  std::string text = print(product);
  if (print(checked(parse(text))) != text) throw py::value_error("print -> parse is not the identity\n" + text);
}

Graph verified_graph(const std::string& text) {
  Graph graph = checked(parse_graph(text));
  check_text(graph, parse_graph, print_graph);
  checked(verify(graph));
  return graph;
}

Graph passed_graph(const std::string& text) {
  Graph graph = verified_graph(text);
  checked(run_passes(graph, {}));
  return graph;
}

Schedule scheduled(const Graph& graph) {
  Schedule made = checked(schedule(graph));
  check_text(made.program, parse_program, print_program);
  return made;
}

std::string schedule_graph(const std::string& text) {
  Schedule made = scheduled(passed_graph(text));
  std::string out;
  for (const std::string& note : made.notes) out += "# " + note + "\n";
  return out + print_program(made.program);
}

std::vector<std::tuple<std::string, std::string, std::string>> step_texts(const std::string& text) {
  StepOptions options;
  options.keep_text = true;
  const Schedule made = checked(schedule(verified_graph(text), options));
  std::vector<std::tuple<std::string, std::string, std::string>> out;
  for (const StepRecord& step : made.steps) out.emplace_back(step.name, step.before, step.text);
  return out;
}

Result<KernelSource> emit_for_target(const Program& program, const std::vector<int64_t>& hints) {
  return program.target.is_device() ? emit_cuda(program, hints) : emit_cpp(program);
}

// The text for the host, then that for the device.
std::string source_text(const KernelSource& source) {
  std::string out = source.text;
  for (const std::string* text : {&source.device_text, &source.other_text})
    if (!text->empty()) out += "//@ device\n" + *text;
  return out;
}

std::string emit_program(const std::string& text) {
  Program program = checked(parse_program(text));
  check_text(program, parse_program, print_program);
  return source_text(checked(emit_for_target(program, {})));
}

std::string words(const char* first, const std::vector<DType>& dtypes) {
  std::string out = first;
  for (DType dtype : dtypes) out += std::string(" ") + dtype_name(dtype);
  return out;
}

std::string emit_graph(const std::string& text) {
  Graph graph = passed_graph(text);
  const Schedule made = scheduled(graph);
  KernelSource source = checked(emit_for_target(made.program, graph.hints));
  std::string out;
  for (const LoopImport& import : source.imports) out += "//@ import " + words(op_info(import.op).name, import.dtypes) + "\n";
  for (const ExitOutputs& exit : exits_of(graph)) {
    out += "//@ exit";
    for (const Type& type : exit.types) out += std::string(" ") + dtype_name(type.dtype) + ":" + std::to_string(type.rank());
    out += "\n";
  }
  for (const std::string& note : made.notes) out += "//@ note " + note + "\n";
  return out + source_text(source);
}

}  // namespace

void bind_stages(py::module_& module) {
  module.def("emit_program", emit_program,
             "The C++ text of a Program's text; of one for a device, the CUDA text follows a line //@ device.");
  module.def("schedule_graph", schedule_graph, "The Program's text of a Graph's text, behind the notes of the schedule.");
  module.def(
      "schedule_steps", step_texts,
      "What each step of the schedule makes of a Graph's text, as passes leave it: its name, the text before it and the text "
      "after it.");
  module.def("emit_graph", emit_graph,
             "The C++ text of a Graph's text. Lines that begin with //@ tell what the kernel expects: imports, and the outputs "
             "of each exit.");
}

}  // namespace accel
