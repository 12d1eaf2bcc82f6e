#pragma once
// Merges paths at join points: waiting paths are joined into one, and back edges close loops of the graph.

#include <map>
#include <optional>

#include "capture/interpreter/interpreter_part.h"
#include "capture/interpreter/paths/loop_version.h"
#include "capture/interpreter/paths/unify.h"

namespace accel {

class PathMerger : InterpreterPart {
 public:
  explicit PathMerger(Interpreter& interpreter) : InterpreterPart(interpreter) {}

  // Paths that wait at a join point.
  void add_pending(PathState state) { pending_.push_back(std::move(state)); }
  bool has_pending() const { return !pending_.empty(); }
  // Takes the waiting paths that come first in the order of the code, joins them, and makes the result the current path.
  // Afterwards there are no frames if all of them have closed a loop.
  Status resume_next();

  // Called before a path with this state waits: turns items appended to dynamic lists into rows, or gathers masked selections
  // into memory of their own. Return whether anything has changed.
  bool settle_lists(const PathState& state);
  bool gather_selections(const PathState& state);
  // Called when the loop over `iterator` with this header ends: lengths of lists that depend on the iteration count are
  // expressed by the length of the iterated object.
  void name_lengths(const Frame& frame, int header, const Ref& iterator);

 private:
  std::vector<PathState> take_first();
  void add_unmet(PathState& state) const;
  void keep_alike(std::vector<PathState>& arrivals, const std::set<std::string>& widened);
  void reload_awaited(std::vector<PathState>& arrivals, const std::string& loop);
  // Loops.
  void close_loops(std::vector<PathState>& arrivals, const std::string& place);
  void close_loop(const LoopVersion& version, const PathState& arrival, const StateMatch& match, const std::string& key);
  Status begin_version(std::vector<PathState>& arrivals, const std::string& place);
  // Parameters of blocks, and their arguments.
  std::set<std::string> join_into(std::vector<PathState>& arrivals, const std::set<std::string>& widened);
  std::set<std::string> add_params(BlockId block, PathState& target, const std::vector<StateSlot>& slots,
                                   const std::set<std::string>& names);
  void memory_param(BlockId block, PathState& target, const StateSlot& slot, const std::vector<Dim>& extents);
  Dim extent_param(BlockId block, const StateSlot& slot);
  std::optional<std::vector<ValueId>> arguments_of(const LoopVersion& version, const PathState& arrival,
                                                   const StateMatch& match);
  ValueId argument(const PathState& from, const StateSlot& slot, bool of_target);
  ValueId identity_argument(const PathState& from, const StateSlot& slot, bool of_target);
  // Growing lists (merge_lists.cpp).
  void plan_growth(const LoopVersion& version, const StateSlot& list, const std::string& key);
  void grow_lists(std::vector<PathState>& arrivals, const std::string& key);
  void grow_lists(PathState& state, const std::map<std::string, RowType>& planned);
  // Extents that change by a constant in each iteration of a loop (induction.cpp).
  std::vector<LoopTie> tie_extents(const PathState& entry, const StateMatch& slots, const std::set<std::string>& widened,
                                   const std::string& key);
  std::optional<LoopTie> tie(const PathState& entry, const StateSlot& extent, const StateSlot& rounds, const std::string& key);
  void check_ties(const LoopVersion& version, const PathState& arrival, const StateMatch& match, const std::string& key);

  std::vector<PathState> pending_;
  std::map<std::string, std::vector<LoopVersion>> versions_;  // by name of the header's location
  int next_version_ = 0;
};

}  // namespace accel
