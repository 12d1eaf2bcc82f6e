#include "capture/interpreter/exits/borrowed_slots.h"

#include "cpython/bytecode/borrowed_values.h"

namespace accel {

namespace {

RecipeId local_of(const FrameRecipe& recipe, int local) { return local >= 0 ? recipe.locals[static_cast<size_t>(local)] : -1; }

// The index of the instruction that the frame waits at or goes on with, and the height of its stack before it.
struct Position {
  int index, height;
};

Position position_of(const Frame& frame, bool waits) {
  const int height = static_cast<int>(frame.stack.size());
  if (!waits) return {frame.next, height};
  const Instruction& call = frame.bytecode().instructions[static_cast<size_t>(frame.next) - 1];
  return {frame.next - 1, height + 1 - stack_effect(call, false)};
}

// The locals that the operands of the call for which the frame waits borrow from; empty if it waits for something else.
std::vector<int> borrowed_operands(const Frame& caller) {
  const Position at = position_of(caller, true);
  const Instruction& call = caller.bytecode().instructions[static_cast<size_t>(at.index)];
  if (call.op != Opcode::call) return {};
  std::vector<int> values = borrowed_values(caller.bytecode(), at.index, at.height);
  values.erase(values.begin(), values.end() - (call.arg + 1));  // the receiver or NULL, and the arguments
  return values;
}

int parameter_count(const PyCodeObject* code) { return code->co_argcount + code->co_kwonlyargcount; }

// Whether a parameter of the callee borrows from a variable of the caller. Arguments by keyword can have any position.
bool is_lent(const FrameRecipe& caller, const std::vector<int>& operands, RecipeId parameter) {
  for (int local : operands)
    if (parameter >= 0 && local_of(caller, local) == parameter) return true;
  return false;
}

}  // namespace

void find_borrowed_slots(const std::vector<const Frame*>& frames, bool all_wait, std::vector<FrameRecipe>& recipes) {
  if (!has_borrowed_values) return;
  for (size_t f = 0; f < recipes.size(); ++f) {
    const Frame& frame = *frames[f];
    FrameRecipe& recipe = recipes[f];
    const std::vector<int> operands = f > 0 ? borrowed_operands(*frames[f - 1]) : std::vector<int>();
    for (int k = 0; k < parameter_count(frame.code()); ++k) {
      const Ref& local = frame.locals[static_cast<size_t>(k)];
      if (!local || rebinds_local(frame.bytecode(), k)) continue;
      // The caller of compiled code owns its arguments until it returns.
      const bool is_lent_here = f == 0 ? local->source >= 0 : is_lent(recipes[f - 1], operands, local_of(recipe, k));
      if (is_lent_here) recipe.borrowed.push_back(k);
    }
    const Position at = position_of(frame, all_wait || f + 1 < recipes.size());
    const std::vector<int> values = borrowed_values(frame.bytecode(), at.index, at.height);
    for (size_t k = 0; k < recipe.stack.size(); ++k) {
      const bool borrows = recipe.stack[k] >= 0 && local_of(recipe, values[k]) == recipe.stack[k];
      if (borrows) recipe.borrowed.push_back(static_cast<int>(recipe.locals.size() + k));
    }
  }
}

std::vector<int> borrowed_arguments(const Frame& at_call, const std::vector<RecipeId>& arguments, const FrameRecipe& recipe) {
  const Instruction& call = at_call.bytecode().instructions[static_cast<size_t>(at_call.next)];
  if (!has_borrowed_values || call.op != Opcode::call) return {};
  const int height = static_cast<int>(at_call.stack.size()), count = static_cast<int>(arguments.size());
  const std::vector<int> values = borrowed_values(at_call.bytecode(), at_call.next, height);
  std::vector<int> out;
  for (int k = 0; k < count; ++k) {
    const RecipeId argument = arguments[static_cast<size_t>(k)];
    const int local = values[static_cast<size_t>(height - count + k)];
    if (argument >= 0 && local_of(recipe, local) == argument) out.push_back(k);
  }
  return out;
}

}  // namespace accel
