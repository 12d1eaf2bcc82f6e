// Reads a Graph's text from standard input, runs the passes on it, schedules it and writes the kernel's C++ text. Lines that
// begin with
// "//@" tell what the kernel expects: imports, array inputs and the outputs of each exit.

#include <cstring>
#include <iostream>
#include <iterator>
#include <string>

#include "codegen/kernel_source.h"
#include "ir/flow.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "passes/passes.h"

int main(int count, char** arguments) {
  std::string text((std::istreambuf_iterator<char>(std::cin)), {});
  auto graph = accel::parse_graph(text);
  if (!graph) return std::cerr << graph.failure().detail << "\n", 1;
  std::string printed = accel::print_graph(*graph);
  auto again = accel::parse_graph(printed);
  if (!again || accel::print_graph(*again) != printed) return std::cerr << "print -> parse is not the identity\n" << printed, 2;
  auto valid = accel::verify(*graph);
  if (!valid.ok()) return std::cerr << valid.failure().detail << "\n", 3;
  auto passed = accel::run_passes(*graph, {});
  if (!passed) return std::cerr << passed.failure().detail << "\n", 4;
  std::vector<std::string> notes;
  auto program = accel::schedule(*graph, &notes);
  if (!program) return std::cerr << program.failure().detail << "\n", 5;
  std::string listing = accel::print_program(*program);
  auto back = accel::parse_program(listing);
  if (!back || accel::print_program(*back) != listing) return std::cerr << "print -> parse is not the identity\n" << listing, 6;
  if (count > 1 && std::strcmp(arguments[1], "program") == 0) {
    for (const std::string& note : notes) std::cout << "# " << note << "\n";
    return std::cout << listing, 0;
  }
  auto source = accel::emit_cpp(*program);
  if (!source) return std::cerr << source.failure().detail << "\n", 7;
  for (const accel::LoopImport& import : source->imports) {
    std::cout << "//@ import " << accel::op_info(import.op).name;
    for (accel::DType dtype : import.dtypes) std::cout << " " << accel::dtype_name(dtype);
    std::cout << "\n";
  }
  for (const accel::ExitOutputs& exit : accel::exits_of(*graph)) {
    std::cout << "//@ exit";
    for (const accel::Type& type : exit.types) std::cout << " " << accel::dtype_name(type.dtype) << ":" << type.rank();
    std::cout << "\n";
  }
  for (const std::string& note : notes) std::cout << "//@ note " << note << "\n";
  std::cout << source->text;
}
