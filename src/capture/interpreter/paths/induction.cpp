// Extents that change by one in each iteration of a loop, such as the length of a list that gets one item.

#include <algorithm>

#include "capture/interpreter/interpreter.h"
#include "capture/protocol/iterators.h"
#include "capture/protocol/operations.h"
#include "capture/python/containers/dynamic_lists.h"

namespace accel {

namespace {

std::optional<Dim> number_of(Capture& capture, const AbstractValue& value) {
  if (value.kind == AbstractKind::scalar) return value.scalar.dim;
  if (value.kind != AbstractKind::constant || !PyLong_CheckExact(value.object.get())) return std::nullopt;
  int overflow = 0;
  int64_t number = PyLong_AsLongLongAndOverflow(value.object.get(), &overflow);
  return overflow == 0 ? std::optional(capture.dims().constant(number)) : std::nullopt;
}

Dim sum_of(DimTable& dims, Dim extent, Dim rounds, bool grows) {
  return grows ? dims.sub(extent, rounds) : dims.add(extent, rounds);
}

const StateSlot* find_slot(const StateMatch& match, const std::string& name) {
  auto found = std::find_if(match.slots.begin(), match.slots.end(), [&](const StateSlot& slot) { return slot.name == name; });
  return found == match.slots.end() ? nullptr : &*found;
}

// Whether the slot is the number of consumed items in an iterator.
bool counts_rounds(const PathState& state, const StateSlot& slot) {
  if (slot.place != StateSlot::Place::item || slot.is_identity) return false;
  const AbstractValue& container = state.of(slot.container);
  return container.kind == AbstractKind::iterator && container.object && slot.index + 1 == container.items.size();
}

}  // namespace

std::vector<LoopTie> PathMerger::tie_extents(const PathState& entry, const StateMatch& slots,
                                             const std::set<std::string>& widened, const std::string& key) {
  std::vector<LoopTie> ties;
  for (const StateSlot& extent : slots.slots) {
    if (extent.place != StateSlot::Place::extent || !widened.contains(extent.name)) continue;
    for (const StateSlot& rounds : slots.slots) {
      if (!widened.contains(rounds.name) || !counts_rounds(entry, rounds)) continue;
      std::optional<LoopTie> found = tie(entry, extent, rounds, key);
      if (!found) continue;
      ties.push_back(std::move(*found));
      break;
    }
  }
  return ties;
}

// Assumes that the extent changes by one in each iteration. This is checked at the back edge; if it is wrong, the next attempt
// does not assume it.
std::optional<LoopTie> PathMerger::tie(const PathState& entry, const StateSlot& extent, const StateSlot& rounds,
                                       const std::string& key) {
  DimTable& dims = capture_.dims();
  std::optional<Dim> before = number_of(capture_, entry.of(rounds.target));
  std::optional<Dim> now = before ? rounds_so_far(capture_, rounds.container) : std::nullopt;
  if (!now) return std::nullopt;
  Dim extent_now = capture_.graph().type(extent.target_memory->current).shape[extent.index];
  for (bool grows : {true, false}) {
    if (speculation_.loops.untied.contains(key + extent.name + rounds.name + (grows ? "+" : "-"))) continue;
    Dim sum = sum_of(dims, extent_now, *now, grows);
    capture_.facts().assume({sum, sum_of(dims, extent.target_extent, *before, grows), Comparison::eq});
    return LoopTie{extent.name, rounds.name, grows, sum};
  }
  return std::nullopt;
}

namespace {

// extent - number, if facts determine it.
std::optional<int64_t> known_excess(Capture& capture, Dim extent, Dim number) {
  DimTable& dims = capture.dims();
  Dim more = dims.sub(extent, number), less = dims.sub(number, extent);
  if (auto excess = dims.as_constant(more)) return excess;
  std::optional<int64_t> least, most;
  for (Dim fact : capture.facts().all()) {
    if (auto left = dims.as_constant(dims.sub(more, fact))) least = std::max(least.value_or(*left), *left);
    if (auto left = dims.as_constant(dims.sub(less, fact))) most = std::min(most.value_or(-*left), -*left);
  }
  return least && least == most ? least : std::nullopt;
}

}  // namespace

void PathMerger::name_lengths(const Frame& frame, int header, const Ref& iterator) {
  // Outside of loops, a decision that depends on such a length would become a guard on the sizes of arguments.
  if (!interpreter_.may_fork_on_sizes()) return;
  std::vector<Ref> lists;
  for (const auto* values : {&frame.locals, &frame.stack})
    std::copy_if(values->begin(), values->end(), std::back_inserter(lists),
                 [](const Ref& value) { return value && is_dynamic_list(value); });
  if (lists.empty() || iterator->kind != AbstractKind::iterator || frame.flow().has_break(header)) return;
  std::optional<Dim> rounds = rounds_so_far(capture_, iterator), all = all_rounds(capture_, iterator);
  if (!rounds || !all || !capture_.facts().is_runtime(*rounds)) return;
  for (const Ref& list : lists) {
    for (const Ref& column : columns_of(list)) {
      Dim extent = column->array.layout.shape[0];
      std::optional<int64_t> excess =
          capture_.facts().is_runtime(extent) ? known_excess(capture_, extent, *rounds) : std::nullopt;
      if (excess) name_length(capture_, column, capture_.dims().add(*all, capture_.dims().constant(*excess)));
    }
  }
}

void PathMerger::check_ties(const LoopVersion& version, const PathState& arrival, const StateMatch& match,
                            const std::string& key) {
  for (const LoopTie& tie : version.ties) {
    const StateSlot *extent = find_slot(match, tie.extent), *rounds = find_slot(match, tie.rounds);
    std::optional<Dim> number = rounds ? number_of(capture_, arrival.of(rounds->arriving)) : std::nullopt;
    bool holds = extent && number && sum_of(capture_.dims(), extent->arriving_extent, *number, tie.grows) == tie.sum;
    if (holds) continue;
    speculation_.loops.untied.insert(key + tie.extent + tie.rounds + (tie.grows ? "+" : "-"));
    speculation_.forget_from(version.position, version.symbols);
    throw Restart{};
  }
}

}  // namespace accel
