// Growing lists at join points: they become dynamic lists at loop headers, and appended items become rows.

#include <algorithm>

#include "capture/context/descent.h"
#include "capture/interpreter/interpreter.h"
#include "capture/interpreter/paths/reference_counts.h"
#include "capture/interpreter/paths/row_types.h"
#include "capture/python/containers/dynamic_lists.h"

namespace accel {

namespace {

// Whether lists in `item` that become rows have no other references. Requires the state that `references` describes.
bool are_lists_alone(const References& references, const Ref& item, bool alone) {
  const Descent level;
  bool is_list = is_any_list(*item);
  if (is_list && (!alone || !references.is_named_once(item) || references.is_iterated(item))) return false;
  alone = alone && (is_list || references.is_named_once(item));
  bool holds = is_list || item->kind == AbstractKind::tuple;
  return !holds || std::all_of(item->items.begin(), item->items.end(),
                               [&](const Ref& part) { return are_lists_alone(references, part, alone); });
}
bool are_lists_alone(const References& references, const Ref& list) {
  return std::all_of(list->items.begin(), list->items.end(),
                     [&](const Ref& item) { return are_lists_alone(references, item, true); });
}

void hold_shared(const References& references, const Ref& list, const Ref& item, bool alone) {
  const Descent level;
  if (is_sequence(item)) {
    alone = alone && references.is_named_once(item);
    for (const Ref& part : item->items) hold_shared(references, list, part, alone);
  }
  if (item->kind != AbstractKind::array || (alone && references.is_alone(item))) return;
  Storage& storage = *item->array.storage;
  if (storage.held || storage.source >= 0) list->position = 1;
  storage.held = true;
}

// Arrays in the list that have other references are held: rows copy their contents, so nobody may store to them.
void hold_shared(const References& references, const Ref& list) {
  for (const Ref& item : list->items) hold_shared(references, list, item, true);
}

}  // namespace

// Plans a dynamic list at the header of the loop. A loop with few iterations, whose number is known, is unrolled instead.
void PathMerger::plan_growth(const LoopVersion& version, const StateSlot& list, const std::string& key) {
  const Frame& frame = version.state.frames.back();
  auto rolled = frame.loops.unrollable.find(frame.next);
  if (rolled != frame.loops.unrollable.end() && frame.loops.counted.contains(frame.next)) {
    interpreter_.planner().unroll(rolled->second);
  }
  speculation_.loops.dynamic_lists[key][list.name] = list.row;
}

void PathMerger::grow_lists(std::vector<PathState>& arrivals, const std::string& key) {
  auto planned = speculation_.loops.dynamic_lists.find(key);
  if (planned == speculation_.loops.dynamic_lists.end()) return;
  for (PathState& arrival : arrivals) grow_lists(arrival, planned->second);
}

void PathMerger::grow_lists(PathState& state, const std::map<std::string, RowType>& planned) {
  References references(state);
  std::vector<std::pair<Ref, RowType>> lists;
  for (const StateSlot& slot : match_states(capture_, state, state, {}).slots) {
    auto found = slot.place == StateSlot::Place::list ? planned.find(slot.name) : planned.end();
    if (found == planned.end()) continue;
    std::optional<RowType> row = found->second;
    const AbstractValue& list = state.of(slot.target);
    if (!list.items.empty()) row = row_type(capture_, state, list.items[0]);
    if (row && !references.is_iterated(slot.target)) lists.emplace_back(slot.target, *row);
  }
  if (lists.empty()) return;
  walk_.restore(capture_, state);
  for (const auto& [list, row] : lists) {
    if (list->items.empty() && row.has_extents()) continue;  // its extents are not known yet
    if (!are_lists_alone(references, list)) continue;
    hold_shared(references, list);
    make_dynamic_list(capture_, list, row);
    auto rolled = walk_.frames.back()->loops.unrollable.find(walk_.frames.back()->next);
    if (rolled != walk_.frames.back()->loops.unrollable.end())
      list->object = PyRef::steal(PyUnicode_FromString(rolled->second.c_str()));
    if (Status settled = settle(capture_, list); !settled.ok()) speculation_.loops.given_up.insert(walk_.place());
  }
  bool at_rolled_loop = state.at_rolled_loop;
  state = walk_.save(capture_);
  state.at_rolled_loop = at_rolled_loop;
  walk_.frames.clear();
}

bool PathMerger::settle_lists(const PathState& state) {
  if (walk_.nesting > 0) return false;
  auto waits = [](const Ref& value) { return is_dynamic_list(value) && !value->items.empty(); };
  if (std::none_of(state.keep_objects.begin(), state.keep_objects.end(), waits)) return false;
  References references(state);
  for (const Ref& value : state.keep_objects) {
    if (!waits(value) || !are_lists_alone(references, value)) continue;
    hold_shared(references, value);
    // Items of another type stay objects; then the paths do not match.
    [[maybe_unused]] Status settled = settle(capture_, value);
  }
  return true;
}

}  // namespace accel
