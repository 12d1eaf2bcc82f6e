#include "capture/product/trace_text.h"

#include "capture/domain/repr.h"
#include "ir/text/text.h"

namespace accel {

namespace {

const char* kind_name(RecipeKind kind) {
  static const char* names[] = {
#define RECIPE(name) #name,
#include "capture/product/recipes.inc"
#undef RECIPE
  };
  return names[static_cast<size_t>(kind)];
}

std::string dims_text(const DimTable& dims, const std::vector<Dim>& list) {
  std::string text = "(";
  for (size_t i = 0; i < list.size(); ++i) text += (i == 0 ? "" : ", ") + dims.text(list[i]);
  return text + ")";
}

std::string ids_text(const std::vector<RecipeId>& ids) {
  std::string text = "[";
  for (size_t i = 0; i < ids.size(); ++i) text += (i == 0 ? "r" : ", r") + std::to_string(ids[i]);
  return text + "]";
}

std::string recipe_text(const Captured& captured, const Recipe& recipe) {
  const DimTable& dims = captured.graph.dims;
  std::string text = kind_name(recipe.kind);
  if (recipe.kind == RecipeKind::source) return text + " " + captured.guards.sources[static_cast<size_t>(recipe.index)].text;
  if (recipe.object) text += " " + short_repr(recipe.object.get());
  if (recipe.index >= 0) text += " " + std::to_string(recipe.index);
  if (recipe.kind == RecipeKind::view) {
    text += std::string(" ") + dtype_name(recipe.dtype) + " shape " + dims_text(dims, recipe.shape) + " strides " +
            dims_text(dims, recipe.strides) + " offset " + dims.text(recipe.offset) + (recipe.writeable ? "" : " read-only");
  }
  if (recipe.kind == RecipeKind::dim_python || recipe.kind == RecipeKind::dim_numpy) text += " " + dims.text(recipe.offset);
  if (!recipe.parts.empty()) text += " " + ids_text(recipe.parts);
  return text;
}

std::string exit_text(const Captured& captured, const Exit& exit) {
  if (exit.kind == ExitKind::ret) return "return r" + std::to_string(exit.result) + "\n";
  std::string text = std::string("leave: ") + reason_info(exit.reason).code + ": " + exit.detail;
  if (exit.where.source >= 0) {
    text += " (" + captured.graph.sources[static_cast<size_t>(exit.where.source)] + ":" + std::to_string(exit.where.line) + ")";
  }
  text += "\n";
  for (const FrameRecipe& frame : exit.frames) {
    text += "  frame r" + std::to_string(frame.function) + " at " + std::to_string(frame.offset);
    if (frame.call_offset >= 0) text += " after the call at " + std::to_string(frame.call_offset);
    text += " locals " + ids_text(frame.locals) + " stack " + ids_text(frame.stack) + "\n";
  }
  return text;
}

}  // namespace

std::string describe(const Captured& captured) {
  std::string text = "guards:\n";
  for (const Guard& guard : captured.guards.guards) text += "  " + guard.text + "\n";
  text += print_graph(captured.graph);
  text += "recipes:\n";
  for (size_t i = 0; i < captured.recipes.size(); ++i) {
    text += "  r" + std::to_string(i) + " = " + recipe_text(captured, captured.recipes[i]) + "\n";
  }
  for (const Exit& exit : captured.exits) text += exit_text(captured, exit);
  for (const Note& note : captured.notes) {
    text += std::string("note: ") + reason_info(note.reason).code + ": " + note.detail + " (" + note.file + ":" +
            std::to_string(note.line) + ")\n";
  }
  return text;
}

}  // namespace accel
