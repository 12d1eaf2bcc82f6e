#include "capture/context/descent.h"

#include <utility>

#include "capture/context/context.h"

namespace accel {

namespace {

constexpr int deepest_walk = 500;          // levels; each takes some C++ frames, also on the small stacks of threads
constexpr int64_t most_visited = 1 << 24;  // values, by one capture: a second or so

struct Walks {
  int depth = 0;
  int64_t walked = 0;
  bool in_instruction = false;
};

thread_local Walks walks;

}  // namespace

Descent::Descent() {
  if (walks.depth < deepest_walk && ++walks.walked <= most_visited) {
    ++walks.depth;
    return;
  }
  Failure why = fail(Reason::unsupported_value, "a container that holds itself, or too many others, to be looked at");
  if (walks.in_instruction) throw InstructionBailout{std::move(why)};
  throw FunctionBailout{std::move(why)};
}

Descent::~Descent() { --walks.depth; }

Descent::Instruction::Instruction() : outer_(std::exchange(walks.in_instruction, true)) {}
Descent::Instruction::~Instruction() { walks.in_instruction = outer_; }

void Descent::begin_capture() { walks = {}; }

}  // namespace accel
