#include "capture/interpreter/paths/row_types.h"

#include "capture/context/descent.h"
#include "capture/domain/number_type.h"
#include "capture/python/containers/dynamic_lists.h"

namespace accel {

namespace {

std::optional<RowType> type_of_parts(Capture& capture, const PathState& state, const AbstractValue& tuple) {
  RowType row;
  row.is_list = tuple.kind == AbstractKind::list;
  for (const Ref& item : tuple.items) {
    std::optional<RowType> part = row_type(capture, state, item);
    if (!part) return std::nullopt;
    row.parts.push_back(std::move(*part));
  }
  return row.parts.empty() ? std::nullopt : std::optional(std::move(row));
}

}  // namespace

std::optional<RowType> row_type(Capture& capture, const PathState& state, const Ref& item) {
  const Descent level;
  const AbstractValue& value = state.of(item);
  bool has_parts =
      value.kind == AbstractKind::tuple || (value.kind == AbstractKind::list && value.source < 0 && !value.iterated);
  if (has_parts) return type_of_parts(capture, state, value);
  if (value.kind == AbstractKind::dynamic_list) return row_of_list(capture, value);
  if (value.kind != AbstractKind::array) {
    std::optional<Type> number = number_type(value);
    return number ? std::optional(RowType{*number, {}}) : std::nullopt;
  }
  if (!value.array.path.empty() || !value.keys.empty()) return std::nullopt;
  const Storage storage = state.of(value.array.storage);
  if (storage.maybe || !value.array.writeable || value.array.layout.shape.empty()) return std::nullopt;
  Type type = capture.graph().type(capture.memory().known_contents(storage));
  if (!type.is_c_order()) return std::nullopt;
  return RowType{{ValueKind::array, type.dtype, type.shape, {}}, {}};
}

}  // namespace accel
