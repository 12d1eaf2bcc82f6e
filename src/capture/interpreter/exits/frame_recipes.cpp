// Frame recipes of exits: which variables an exit hands over (PathExits).

#include <algorithm>

#include "capture/interpreter/exits/borrowed_slots.h"
#include "capture/interpreter/interpreter.h"

namespace accel {

namespace {

// Whether handing the value over needs no computation.
bool is_free(const Ref& value) {
  return (value->kind == AbstractKind::constant && value->items.empty()) || value->kind == AbstractKind::lazy ||
         value->source >= 0;
}

// Whether a value is an object that a call has returned. Other code may observe when it is freed (by a weak reference), so a
// variable that refers to it stays alive even if it is never read again.
bool is_of_a_call(const Ref& value) {
  return value->kind == AbstractKind::opaque || (value->kind == AbstractKind::text && !value->object);
}

// Fails if the code after an exit tests the identity of a number that the exit makes anew. Integers are excepted: small ones
// are singletons, and larger ones are counts, whose identity is not expected to matter.
void check_identities(const Frame& frame, bool waits) {
  if (!frame.flow().asks_identity(frame.next)) return;
  for (size_t i = 0; i < frame.locals.size(); ++i) {
    const Ref& local = frame.locals[i];
    bool made_anew = local && local->is_one_of_several && frame.is_live(i, waits);
    if (made_anew && (local->kind == AbstractKind::tuple || dtype_kind(local->scalar.dtype) == 'f' ||
                      dtype_kind(local->scalar.dtype) == 'c'))
      throw FunctionBailout{fail(Reason::unsupported_value, unknown_identity)};
  }
}

// The offset of an instruction that returns; -1: there is none.
int return_offset_of(const Bytecode& bytecode) {
  for (const Instruction& instruction : bytecode.instructions)
    if (instruction.op == Opcode::return_value) return instruction.offset;
  return -1;
}

}  // namespace

Result<std::vector<FrameRecipe>> PathExits::write_frames(RecipeWriter& writer, const std::vector<const Frame*>& frames,
                                                         bool all_wait) const {
  std::vector<FrameRecipe> recipes;
  for (const Frame* frame : frames) {
    const auto& instructions = frame->bytecode().instructions;
    const Instruction& next = instructions[static_cast<size_t>(frame->next)];
    if (!next.is_resume_point()) return fail(Reason::internal_error, "not a resume point");
    FrameRecipe recipe;
    ACCEL_TRY(recipe.function, writer.write(frame->function));
    recipe.code = frame->bytecode().code;
    recipe.offset = next.offset;
    bool waits = all_wait || frame != frames.back();
    if (waits) recipe.call_offset = instructions[static_cast<size_t>(frame->next) - 1].fault_offset;
    if (waits) recipe.return_offset = return_offset_of(frame->bytecode());
    for (size_t i = 0; i < frame->locals.size(); ++i) {
      const Ref& local = frame->locals[i];
      bool needed = local && (frame->is_live(i, waits) || is_free(local) || is_of_a_call(local));
      ACCEL_TRY(RecipeId id, writer.write(needed ? local : interpreter_.null()));
      recipe.locals.push_back(id);
    }
    for (const Ref& value : frame->stack) {
      ACCEL_TRY(RecipeId id, writer.write(value));
      recipe.stack.push_back(id);
    }
    if (!writer.probes()) check_identities(*frame, waits);
    recipes.push_back(std::move(recipe));
  }
  return recipes;
}

void PathExits::add_dead_names(const RecipeWriter& writer, const std::vector<const Frame*>& frames,
                               std::vector<FrameRecipe>& recipes) const {
  for (size_t f = 0; f < recipes.size(); ++f) {
    for (size_t i = 0; i < frames[f]->locals.size(); ++i) {
      const Ref& local = frames[f]->locals[i];
      const RecipeId id = local && local->source < 0 ? writer.written(local) : -1;
      if (id >= 0) recipes[f].locals[i] = id;
    }
  }
}

Result<std::vector<FrameRecipe>> PathExits::write_exit(RecipeWriter& writer, const std::vector<const Frame*>& frames) {
  auto walked = std::find_if(frames.begin(), frames.end(), [](const Frame* frame) { return frame->before_call != nullptr; });
  if (walked == frames.end()) {
    ACCEL_TRY([[maybe_unused]] Unit stored, writer.write_stores());
    ACCEL_TRY(std::vector<FrameRecipe> recipes, write_frames(writer, frames));
    add_dead_names(writer, frames, recipes);
    find_borrowed_slots(frames, false, recipes);
    return recipes;
  }
  const PathState& before = *(*walked)->before_call;
  if (before.lasting_effects != capture_.lasting_effects())
    return fail(Reason::generator, "a generator that has changed something");
  PathState now;
  now.keep_objects = before.keep_objects;
  now.keep_storages = before.keep_storages;
  for (const Ref& value : now.keep_objects) now.objects.emplace(value.get(), *value);
  for (const auto& storage : now.keep_storages) now.storages.emplace(storage.get(), *storage);
  restore_objects(before);
  std::vector<const Frame*> outer;
  for (const Frame& frame : before.frames) outer.push_back(&frame);
  Result<std::vector<FrameRecipe>> written = write_frames(writer, outer);
  Status stored = writer.write_stores();
  restore_objects(now);
  if (!stored.ok()) return stored.failure();
  return written;
}

Result<std::vector<FrameRecipe>> PathExits::write_raising_frames(RecipeWriter& writer,
                                                                 const std::vector<const Frame*>& frames) const {
  std::vector<FrameRecipe> recipes;
  for (const Frame* frame : frames) {
    const Bytecode& bytecode = frame->bytecode();
    const bool waits = frame != frames.back();
    const Instruction& next = bytecode.instructions[static_cast<size_t>(frame->next)];
    const Instruction& raises = waits ? bytecode.instructions[static_cast<size_t>(frame->next) - 1] : next;
    const Handler* handler = raises.handler >= 0 ? &bytecode.handlers[static_cast<size_t>(raises.handler)] : nullptr;
    FrameRecipe recipe;
    ACCEL_TRY(recipe.function, writer.write(frame->function));
    recipe.code = bytecode.code;
    recipe.offset = next.offset;
    if (waits) recipe.call_offset = raises.fault_offset, recipe.return_offset = return_offset_of(bytecode);
    for (size_t i = 0; i < frame->locals.size(); ++i) {
      const Ref& local = frame->locals[i];
      bool needed = local && (is_free(local) || (handler != nullptr && frame->flow().is_live(handler->target, i)));
      ACCEL_TRY(RecipeId id, writer.write(needed ? local : interpreter_.null()));
      recipe.locals.push_back(id);
    }
    for (int k = 0; handler != nullptr && k < handler->depth; ++k) {
      ACCEL_TRY(RecipeId id, writer.write(frame->stack[static_cast<size_t>(k)]));
      recipe.stack.push_back(id);
    }
    recipes.push_back(std::move(recipe));
  }
  return recipes;
}

}  // namespace accel
