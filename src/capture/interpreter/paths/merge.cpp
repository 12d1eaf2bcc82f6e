#include <algorithm>

#include "capture/interpreter/interpreter.h"
#include "capture/interpreter/paths/merger.h"
#include "capture/protocol/masked_selection.h"

namespace accel {

namespace {

constexpr int64_t likely_extent = 16;
constexpr size_t most_versions = 5;  // of one loop

// Whether the path is on a back edge of the loop at whose header it waits.
bool is_back(const PathState& state) {
  const Frame& frame = state.frames.back();
  return state.at_rolled_loop && std::any_of(state.passed.begin(), state.passed.end(), [&](const PassedLoop& loop) {
           return loop.frame == frame.id && loop.header == frame.next;
         });
}

// The order in which waiting paths continue: inner calls first, then by instruction index, iteration by iteration. Paths on a
// back edge come after all others in the loop, so that those of one version are resumed together.
std::vector<int> order_of(const PathState& state) {
  std::vector<int> order;
  bool back = is_back(state);
  for (size_t i = 0; i < state.frames.size(); ++i) {
    const Frame& frame = state.frames[i];
    for (int header : frame.flow().headers_around(frame.next)) {
      auto rounds = frame.loops.rounds.find(header);
      order.push_back(header);
      order.push_back(rounds == frame.loops.rounds.end() ? 0 : rounds->second);
    }
    bool last = back && (i + 1 == state.frames.size() || state.frames[i + 1].is_consumed());
    order.push_back(last ? frame.flow().end_of(frame.next) + 1 : frame.next);
    order.push_back(0);
  }
  order.push_back(1 << 30);
  return order;
}

std::string place_of(const PathState& state) {
  std::string name;
  for (const Frame& frame : state.frames) name += accel::place_of(frame) + " ";
  return name;
}

bool has_passed(const PathState& state, int version) {
  return std::any_of(state.passed.begin(), state.passed.end(),
                     [&](const PassedLoop& loop) { return loop.version == version && loop.frame == state.frames.back().id; });
}

// Whether the slot can become a block parameter.
bool has_value(const StateSlot& slot) { return slot.place != StateSlot::Place::list && slot.place != StateSlot::Place::held; }

// The loop at whose header the state is.
PassedLoop passed_loop(const PathState& state, int version) {
  size_t depth = state.frames.size() - 1;
  PassedLoop loop{version, depth, state.frames[depth].id, state.frames[depth].next};
  if (!state.frames[depth].is_consumed()) return loop;
  while (state.frames[depth].is_consumed()) --depth;
  loop.consumer_depth = depth;
  loop.consumer = state.frames[depth].id;
  loop.consumer_header = state.frames[depth].next - 1;
  return loop;
}

// The source of the array, or of the container that has the number; -1: made by the captured code.
SourceId source_of(const StateSlot& slot) {
  if (slot.target_memory) return slot.target_memory->source;
  return slot.container ? slot.container->source : -1;
}

// Plans that the next attempt resolves the slot's object before the walk. False: it is planned already, or has no source.
bool see_before(Capture& capture, const StateSlot& slot) {
  SourceId source = source_of(slot);
  return source >= 0 && capture.resolver().plan_early_look(source);
}

// The items that are in both.
template <class T>
std::vector<T> common(const std::vector<T>& left, const std::vector<T>& right) {
  std::vector<T> both;
  std::copy_if(left.begin(), left.end(), std::back_inserter(both),
               [&](const T& item) { return std::find(right.begin(), right.end(), item) != right.end(); });
  return both;
}

// Forgets graph values that were computed on one of the paths only.
void forget_own_values(PathState& target, const std::vector<PathState>& others) {
  for (auto& [object, contents] : target.objects) {
    if (contents.kind == AbstractKind::array) contents.array.value = no_value;
    if (contents.kind != AbstractKind::scalar || !contents.scalar.dim) continue;
    bool everywhere = std::all_of(others.begin(), others.end(), [&, key = object](const PathState& other) {
      auto found = other.objects.find(key);
      return found == other.objects.end() || found->second.scalar.dim == contents.scalar.dim;
    });
    if (everywhere) {
      contents.scalar.value = no_value;
    } else if (contents.scalar.value != no_value) {
      contents.scalar.dim.reset();
    }
  }
}

}  // namespace

// Before a loop, masked selections get memory of their own, because the loop may store to the array they select from. On a back
// edge, selections made in the iteration do, so that the next iteration begins with plain arrays as well.
bool PathMerger::gather_selections(const PathState& state) {
  if (!state.at_rolled_loop) return false;
  const std::vector<LoopVersion>& versions = versions_[place_of(state)];
  bool gathered = false;
  for (const Ref& value : state.keep_objects) {
    auto knows = [&](const LoopVersion& version) {
      return has_passed(state, version.id) && version.state.objects.contains(value.get());
    };
    if (!is_masked_selection(value) || std::any_of(versions.begin(), versions.end(), knows)) continue;
    gathered |= materialise(capture_, value).ok();
  }
  return gathered;
}

std::vector<PathState> PathMerger::take_first() {
  size_t first = 0;
  for (size_t i = 1; i < pending_.size(); ++i) {
    if (order_of(pending_[i]) < order_of(pending_[first])) first = i;
  }
  std::string place = place_of(pending_[first]);
  std::vector<PathState> taken, rest;
  for (PathState& state : pending_) (place_of(state) == place ? taken : rest).push_back(std::move(state));
  pending_ = std::move(rest);
  return taken;
}

// Adds mutated objects of the caller that the path has not read: there they still have their contents from when the call began.
void PathMerger::add_unmet(PathState& state) const {
  for (const Ref& object : capture_.changes().all()) {
    bool fresh = state.objects.try_emplace(object.get(), capture_.changes().as_it_came(object)).second;
    if (fresh) state.keep_objects.push_back(object);
  }
}

Status PathMerger::resume_next() {
  std::vector<PathState> arrivals = take_first();
  for (PathState& arrival : arrivals) add_unmet(arrival);
  std::string place = place_of(arrivals[0]);
  walk_.frames.clear();
  if (arrivals[0].at_rolled_loop) {
    reload_awaited(arrivals, place);
    close_loops(arrivals, place);
    if (!arrivals.empty()) return begin_version(arrivals, place);
    return Unit{};
  }
  keep_alike(arrivals, {});
  if (arrivals.size() > 1) join_into(arrivals, {});
  walk_.restore(capture_, arrivals[0]);
  walk_.approach = Approach::resumes;
  return Unit{};
}

// Keeps in `arrivals` those that can be joined with the first one; the others continue to wait.
void PathMerger::keep_alike(std::vector<PathState>& arrivals, const std::set<std::string>& widened) {
  std::vector<PathState> alike;
  for (PathState& arrival : arrivals) {
    bool fits = alike.empty() || match_states(capture_, alike[0], arrival, {&widened}).fits;
    (fits ? alike : pending_).push_back(std::move(arrival));
  }
  arrivals = std::move(alike);
}

// On a back edge, reloads arrays of the caller that decide whether the loop ends, because other threads may store to them.
void PathMerger::reload_awaited(std::vector<PathState>& arrivals, const std::string& loop) {
  auto awaited = speculation_.loops.awaited.find(loop);
  if (awaited == speculation_.loops.awaited.end()) return;
  for (PathState& arrival : arrivals) {
    const std::vector<LoopVersion>& versions = versions_[loop];
    auto passed = [&](const LoopVersion& version) { return has_passed(arrival, version.id); };
    if (std::none_of(versions.begin(), versions.end(), passed)) continue;
    const bool at_rolled_loop = arrival.at_rolled_loop;
    walk_.restore(capture_, arrival);
    capture_.memory().reload(awaited->second);
    arrival = walk_.save(capture_);
    arrival.at_rolled_loop = at_rolled_loop;
    walk_.frames.clear();
  }
}

// Ends the paths on back edges of loops.
void PathMerger::close_loops(std::vector<PathState>& arrivals, const std::string& place) {
  std::vector<LoopVersion>& versions = versions_[place];
  auto closes = [&](const PathState& arrival) {
    std::vector<size_t> passed;
    for (size_t i = 0; i < versions.size(); ++i) {
      if (has_passed(arrival, versions[i].id)) passed.push_back(i);
    }
    for (int more : {0, 1, 2}) {
      for (size_t i : passed) {
        // An extent that changes once gives the loop another version; one that changes again becomes a parameter of the last
        // version.
        bool resized = more == 2;
        if (resized && (passed.size() < 2 || i != passed.back())) continue;
        StateMatch match = match_states(capture_, versions[i].state, arrival, {&versions[i].widened, more > 0, resized});
        if (!match.fits) continue;
        close_loop(versions[i], arrival, match, place + "#" + std::to_string(i));
        return true;
      }
    }
    return false;
  };
  std::erase_if(arrivals, closes);
}

void PathMerger::close_loop(const LoopVersion& version, const PathState& arrival, const StateMatch& match,
                            const std::string& key) {
  bool complete = true;
  for (const StateSlot& slot : match.slots) {
    if (slot.equal || version.widened.count(slot.name) != 0) continue;
    complete = false;
    if (slot.place == StateSlot::Place::list) plan_growth(version, slot, key);
    // A slot that is planned but no parameter belongs to an object that is first read in the loop.
    bool planned = !speculation_.loops.widened[key].insert(slot.name).second;
    if (planned && !see_before(capture_, slot)) speculation_.loops.given_up.insert(place_of(version.state));
  }
  if (!complete) {
    speculation_.forget_from(version.position, version.symbols);
    throw Restart{};
  }
  check_ties(version, arrival, match, key);
  std::optional<std::vector<ValueId>> arguments = arguments_of(version, arrival, match);
  if (!arguments) {
    speculation_.loops.given_up.insert(place_of(version.state));
    speculation_.forget_numbering();
    throw Restart{};
  }
  const BlockId header = version.state.block;
  const std::string loop = key.substr(0, key.rfind('#'));
  if (interpreter_.interrupts().plan_waiting(loop, header, arrival)) {
    speculation_.forget_from(version.position, version.symbols);
    throw Restart{};
  }
  const BlockId exit_block = interpreter_.interrupts().add(arrival, speculation_.loops.waiting.contains(loop));
  Builder& build = capture_.build();
  build.move_to(arrival.block);
  if (exit_block < 0) return build.jump(header, std::move(*arguments));
  const ValueId interrupted = build.interrupted();
  build.branch(interrupted, exit_block, {}, header, std::move(*arguments));
}

// The arguments for the parameters of the loop's header; nullopt: the path lacks one. They are matched by name, because a
// container that is first read in the loop changes the order of the slots.
std::optional<std::vector<ValueId>> PathMerger::arguments_of(const LoopVersion& version, const PathState& arrival,
                                                             const StateMatch& match) {
  std::vector<ValueId> arguments;
  std::set<const StateSlot*> passed;
  for (const auto& [name, source] : version.params) {
    auto is_param = [&, &name = name, source = source](const StateSlot& slot) {
      return slot.name == name && has_value(slot) && source_of(slot) == source && !passed.contains(&slot);
    };
    auto slot = std::find_if(match.slots.begin(), match.slots.end(), is_param);
    if (slot == match.slots.end()) return std::nullopt;
    passed.insert(&*slot);
    arguments.push_back(argument(arrival, *slot, false));
  }
  return arguments;
}

Status PathMerger::begin_version(std::vector<PathState>& arrivals, const std::string& place) {
  std::vector<LoopVersion>& versions = versions_[place];
  grow_lists(arrivals, place + "#" + std::to_string(versions.size()));
  const std::set<std::string>& planned = speculation_.loops.widened[place + "#" + std::to_string(versions.size())];
  keep_alike(arrivals, planned);
  size_t earlier = 0;
  for (const LoopVersion& version : versions) earlier += has_passed(arrivals[0], version.id);
  if (earlier >= most_versions || speculation_.loops.given_up.count(place) != 0) {
    for (size_t i = 1; i < arrivals.size(); ++i) pending_.push_back(std::move(arrivals[i]));
    walk_.restore(capture_, arrivals[0]);
    walk_.running.position = walk_.count;
    walk_.running.frame = *walk_.frames.back();
    walk_.running.depth = walk_.frames.size();
    return interpreter_.planner().give_up_loop();
  }
  std::optional<PathState> entry;  // state before the loop, if one edge enters it
  if (arrivals.size() == 1) entry = arrivals[0];
  StateMatch before = match_states(capture_, arrivals[0], arrivals[0], {});
  std::set<std::string> widened = join_into(arrivals, planned);
  std::vector<std::pair<std::string, SourceId>> params;
  for (const StateSlot& slot : before.slots) {
    if (widened.contains(slot.name) && has_value(slot)) params.emplace_back(slot.name, source_of(slot));
  }
  PathState& state = arrivals[0];
  state.passed.push_back(passed_loop(state, next_version_));
  int symbols = static_cast<int>(capture_.graph().hints.size());
  versions.push_back({next_version_++, state, std::move(widened), std::move(params), {}, walk_.count, symbols});
  walk_.restore(capture_, state);
  if (entry) {
    StateMatch slots = match_states(capture_, *entry, *entry, {});
    std::string key = place + "#" + std::to_string(versions.size() - 1);
    versions.back().ties = tie_extents(*entry, slots, versions.back().widened, key);
  }
  walk_.approach = Approach::resumes;
  return Unit{};
}

namespace {

// Memory whose extents become parameters becomes a parameter as well.
void add_resized_memory(const std::vector<StateSlot>& slots, std::set<std::string>& names) {
  for (const StateSlot& slot : slots) {
    auto is_widened = [&](const StateSlot& other) {
      return other.place == StateSlot::Place::extent && other.target_memory == slot.target_memory && names.contains(other.name);
    };
    bool memory = slot.place == StateSlot::Place::memory && !slot.is_identity;
    if (memory && std::any_of(slots.begin(), slots.end(), is_widened)) names.insert(slot.name);
  }
}

bool becomes_param(const StateSlot& slot, const std::set<std::string>& names) {
  return names.contains(slot.name) && has_value(slot);
}

}  // namespace

// Makes arrivals[0] the state of a new block to which all arrivals jump. Slots that differ, and those in `widened`, become
// parameters. Returns the names of these slots.
std::set<std::string> PathMerger::join_into(std::vector<PathState>& arrivals, const std::set<std::string>& widened) {
  Builder& build = capture_.build();
  PathState& target = arrivals[0];
  std::vector<StateMatch> matches;
  std::set<std::string> names = widened;
  for (const PathState& arrival : arrivals) {
    matches.push_back(match_states(capture_, target, arrival, {&widened}));
    for (const StateSlot& slot : matches.back().slots) {
      if (!slot.equal) names.insert(slot.name);
    }
  }
  add_resized_memory(matches[0].slots, names);
  BlockId block = build.new_block();
  for (size_t i = 0; i < arrivals.size(); ++i) {
    std::vector<ValueId> arguments;
    for (const StateSlot& slot : matches[i].slots) {
      if (becomes_param(slot, names)) arguments.push_back(argument(arrivals[i], slot, i == 0));
    }
    build.move_to(arrivals[i].block);
    build.jump(block, std::move(arguments));
  }
  if (arrivals.size() > 1) forget_own_values(target, {arrivals.begin() + 1, arrivals.end()});
  std::set<std::string> params = add_params(block, target, matches[0].slots, names);
  target.block = block;
  target.at_rolled_loop = false;
  for (size_t i = 1; i < arrivals.size(); ++i) {
    target.facts = common(target.facts, arrivals[i].facts);
    target.passed = common(target.passed, arrivals[i].passed);
    target.memory_is_stale |= arrivals[i].memory_is_stale;
    target.forks = std::max(target.forks, arrivals[i].forks);
    target.lasting_effects = std::max(target.lasting_effects, arrivals[i].lasting_effects);
    // An exit at that position ends one path; the others are walked next.
    target.writable = std::max(target.writable, arrivals[i].writable);
  }
  return params;
}

// Adds parameters to the block and puts them into the slots of `target`. Returns the names of these slots.
std::set<std::string> PathMerger::add_params(BlockId block, PathState& target, const std::vector<StateSlot>& slots,
                                             const std::set<std::string>& names) {
  Builder& build = capture_.build();
  std::set<std::string> params;
  build.move_to(block);
  std::vector<Dim> extents;  // of the memory whose slot follows
  for (const StateSlot& slot : slots) {
    bool widens = becomes_param(slot, names);
    if (widens) params.insert(slot.name);
    if (names.contains(slot.name) && slot.place == StateSlot::Place::held) hold(target, slot.target_memory);
    if (slot.is_identity) {
      if (widens) widen(target, slot, build.param(block, identity_type), identity_type);
    } else if (slot.place == StateSlot::Place::extent) {
      if (slot.index == 0) extents.clear();
      extents.push_back(widens ? extent_param(block, slot) : slot.target_extent);
    } else if (slot.place == StateSlot::Place::memory) {
      if (widens) memory_param(block, target, slot, extents);
      extents.clear();
    } else if (widens) {
      Type type = *number_type(target.of(slot.target));
      widen(target, slot, build.param(block, type), type);
    }
  }
  return params;
}

// Adds a parameter for memory that has these extents.
void PathMerger::memory_param(BlockId block, PathState& target, const StateSlot& slot, const std::vector<Dim>& extents) {
  Type type = capture_.graph().type(capture_.memory().known_contents(target.of(slot.target_memory)));
  if (slot.target_memory->source < 0 && type.shape != extents) {
    resize(capture_, target, slot.target_memory, extents);
    type.shape = extents;
  }
  widen(target, slot, capture_.build().param(block, type), type);
}

// Adds a parameter for an extent, and binds a symbol to it.
Dim PathMerger::extent_param(BlockId block, const StateSlot& slot) {
  ValueId param = capture_.build().param(block, {ValueKind::py_scalar, DType::int64, {}, {}});
  int64_t hint = std::max<int64_t>(capture_.ranges().hint(slot.target_extent), likely_extent);  // lists begin empty
  return capture_.facts().bind_dim(param, "extent", hint, 0, most_elements);
}

// The run's number of the object in a slot; -1 if no call has seen the object.
ValueId PathMerger::identity_argument(const PathState& from, const StateSlot& slot, bool of_target) {
  const auto& memory = of_target ? slot.target_memory : slot.arriving_memory;
  const Ref identity = memory ? from.of(memory).identity : from.of(of_target ? slot.target : slot.arriving).identity;
  const Ref number = identity ? std::make_shared<AbstractValue>(from.of(identity)) : capture_.values().python_int(-1);
  return capture_.values().scalar_value(number).value();
}

// The graph value of a slot at the end of a path.
ValueId PathMerger::argument(const PathState& from, const StateSlot& slot, bool of_target) {
  Builder& build = capture_.build();
  build.move_to(from.block);
  if (slot.is_identity) return identity_argument(from, slot, of_target);
  if (slot.place == StateSlot::Place::extent) return build.dim(of_target ? slot.target_extent : slot.arriving_extent);
  capture_.memory().is_stale() = from.memory_is_stale;
  if (slot.place == StateSlot::Place::memory) {
    return capture_.memory().contents(from.of(of_target ? slot.target_memory : slot.arriving_memory));
  }
  Ref number = std::make_shared<AbstractValue>(from.of(of_target ? slot.target : slot.arriving));
  // The existing node may be in a block that does not dominate this one.
  if (number->kind == AbstractKind::scalar && number->scalar.dim) number->scalar.value = no_value;
  return capture_.values().scalar_value(number).value();
}

}  // namespace accel
