// Lists that grow where paths meet: they become grown ones at the headers of loops, and what was appended becomes rows.

#include <algorithm>

#include "capture/grown_lists.h"
#include "capture/interpreter.h"

namespace accel {

namespace {

// How often the places of a state name each object, and how many arrays look at each storage.
class References {
 public:
  explicit References(const PathState& state) {
    for (const Frame& frame : state.frames) {
      for (const auto* values : {&frame.locals, &frame.stack, &frame.closure}) add(*values);
      add({frame.function, frame.generator});
    }
    for (const auto& [object, contents] : state.objects) {
      add(contents.items);
      add({contents.iterated});
      if (contents.iterated) iterated_.insert(contents.iterated.get());
      bool in_memory = contents.kind == AbstractKind::array || contents.kind == AbstractKind::predicated;
      if (in_memory) ++arrays_[contents.array.storage.get()];
    }
    for (const auto& [storage, contents] : state.storages) {
      if (contents.maybe) ++arrays_[contents.maybe.get()];
    }
  }

  // Whether nobody but one list sees an array.
  bool is_alone(const Ref& item) const {
    return item->kind != AbstractKind::array ||
           (count(objects_, item.get()) == 1 && count(arrays_, item->array.storage.get()) == 1);
  }
  bool is_iterated(const Ref& list) const { return iterated_.contains(list.get()); }

 private:
  void add(const std::vector<Ref>& values) {
    for (const Ref& value : values) {
      if (value) ++objects_[value.get()];
    }
  }
  template <class Key>
  static int count(const std::unordered_map<const Key*, int>& counts, const Key* key) {
    auto found = counts.find(key);
    return found == counts.end() ? 0 : found->second;
  }

  std::unordered_map<const AbstractValue*, int> objects_;
  std::unordered_map<const Storage*, int> arrays_;
  std::set<const AbstractValue*> iterated_;
};

bool are_alone(const References& references, const Ref& list) {
  return std::all_of(list->items.begin(), list->items.end(), [&](const Ref& item) { return references.is_alone(item); });
}

}  // namespace

// The next attempt has a grown list at the header of the loop. Loops of few known rounds are evaluated round by round instead.
void Interpreter::plan_growth(const Version& version, const StateSlot& list, const std::string& key) {
  const Frame& frame = version.state.frames.back();
  auto rolled = frame.rolled.find(frame.next);
  if (rolled != frame.rolled.end() && frame.counted.contains(frame.next)) {
    unroll(rolled->second);
  }
  plan_.grown[key][list.name] = list.row;
}

void Interpreter::grow_lists(std::vector<PathState>& arrivals, const std::string& key) {
  auto planned = plan_.grown.find(key);
  if (planned == plan_.grown.end()) return;
  for (PathState& arrival : arrivals) grow_lists(arrival, planned->second);
}

void Interpreter::grow_lists(PathState& state, const std::map<std::string, Type>& planned) {
  References references(state);
  std::vector<std::pair<Ref, Type>> lists;
  for (const StateSlot& slot : match_states(capture_, state, state, {}).slots) {
    auto found = slot.place == StateSlot::Place::list ? planned.find(slot.name) : planned.end();
    if (found == planned.end()) continue;
    std::optional<Type> row = found->second;
    const AbstractValue& list = state.of(slot.target);
    if (!list.items.empty()) row = row_type(capture_, state, list.items[0]);
    if (row && !references.is_iterated(slot.target)) lists.emplace_back(slot.target, *row);
  }
  if (lists.empty()) return;
  restore(state);
  for (const auto& [list, row] : lists) {
    if (list->items.empty() && row.rank() > 0) continue;  // its extents need not be known here
    if (!are_alone(references, list)) continue;
    make_grown(capture_, list, row);
    auto rolled = frames_.back()->rolled.find(frames_.back()->next);
    if (rolled != frames_.back()->rolled.end()) list->object = PyRef::steal(PyUnicode_FromString(rolled->second.c_str()));
    if (Status settled = settle(capture_, list); !settled.ok()) plan_.given_up.insert(place_name());
  }
  bool at_rolled_loop = state.at_rolled_loop;
  state = save();
  state.at_rolled_loop = at_rolled_loop;
  frames_.clear();
}

// Before a path waits for others: they need not have appended as often. `state` is the path's. Whether anything has changed.
bool Interpreter::settle_lists(const PathState& state) {
  if (nesting_ > 0) return false;
  auto waits = [](const Ref& value) { return is_grown(value) && !value->items.empty(); };
  if (std::none_of(state.keep_objects.begin(), state.keep_objects.end(), waits)) return false;
  References references(state);
  for (const Ref& value : state.keep_objects) {
    if (!waits(value) || !are_alone(references, value)) continue;
    // Items of another type stay as they are: the paths do not fit then.
    [[maybe_unused]] Status settled = settle(capture_, value);
  }
  return true;
}

}  // namespace accel
