#pragma once
// NestTexts: the functions of a program's nests, one list of them per copy of the nests. Copies with equal text share a
// function, and so do nests that differ in their arguments alone.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codegen/emit/code.h"
#include "codegen/emit/names.h"

namespace accel {

// A function of a nest, for the values that `fixed` gives symbols.
struct NestFunction {
  std::string name;
  std::vector<BufferId> buffers;  // that its body gets
  std::vector<std::pair<int, int64_t>> fixed;
  bool is_shared = false;         // by nests that differ in what they give it: buffers, temps and then `dims`
  std::vector<std::string> dims;  // DimTable::text()
};

// By nest: of its functions the first one that fits is called, and the last one fits always.
using NestFunctions = std::vector<std::vector<NestFunction>>;

class NestTexts {
 public:
  explicit NestTexts(const Program& program) : program_(program) {}

  // Adds the functions of a copy to `out`.
  Result<NestFunctions> add_copy(Code& out, Copy& copy);

 private:
  // The text of a nest's functions when all is given that they need.
  struct SharedText {
    std::string text, plain;  // plain: when they read it from the frame
    NestFunction function;    // with the name of the first nest that has it
  };

  Status find_shared(Copy& copy);
  Result<std::vector<NestFunction>> functions_of(Code& out, size_t k, Copy& copy);
  Result<NestFunction> function_of(Code& out, size_t k, Copy& copy, int number);
  void add(Code& out, size_t k, std::string text, const std::string& name);

  const Program& program_;
  std::map<std::string, std::string> names_;  // of functions, by nest and text
  std::map<size_t, SharedText> shared_;       // by nest
  int copies_ = 0;
};

}  // namespace accel
