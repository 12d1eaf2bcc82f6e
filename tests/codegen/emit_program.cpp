// Reads a Program's text from standard input and writes the kernel's C++ text. Fails when print -> parse is not the identity.

#include <iostream>
#include <iterator>
#include <string>

#include "codegen/kernel_source.h"

int main() {
  std::string text((std::istreambuf_iterator<char>(std::cin)), {});
  auto program = accel::parse_program(text);
  if (!program) return std::cerr << program.failure().detail << "\n", 1;
  std::string printed = accel::print_program(*program);
  auto again = accel::parse_program(printed);
  if (!again || accel::print_program(*again) != printed)
    return std::cerr << "print -> parse is not the identity\n" << printed, 2;
  auto source = accel::emit_cpp(*program);
  if (!source) return std::cerr << source.failure().detail << "\n", 3;
  std::cout << source->text;
}
