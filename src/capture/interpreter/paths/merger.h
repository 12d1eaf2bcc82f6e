#pragma once
// Where paths meet: they wait for each other, loops of the graph close, other paths are joined into one.

#include <map>
#include <optional>

#include "capture/interpreter/interpreter_part.h"
#include "capture/interpreter/paths/loop_version.h"
#include "capture/interpreter/paths/unify.h"

namespace accel {

class PathMerger : InterpreterPart {
 public:
  explicit PathMerger(Interpreter& interpreter) : InterpreterPart(interpreter) {}

  // Paths that wait.
  void add_pending(PathState state) { pending_.push_back(std::move(state)); }
  bool has_pending() const { return !pending_.empty(); }
  // Takes the paths that wait at the first place in the order of the code, joins them and makes the result the path that is
  // walked. No frames are left where all of them have closed a loop.
  Status resume_next();

  // Before a path with this state waits: dynamic lists get the items as rows that were appended, and arrays that masks select
  // get memory of their own. Whether anything has changed.
  bool settle_lists(const PathState& state);
  bool gather_selections(const PathState& state);
  // The loop over `iterator`, which begins at `header`, has come to its end: the lengths of lists that follow the number of
  // iterations are expressed by the length of what it iterates over.
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
  // Lists that grow (merge_lists.cpp).
  void plan_growth(const LoopVersion& version, const StateSlot& list, const std::string& key);
  void grow_lists(std::vector<PathState>& arrivals, const std::string& key);
  void grow_lists(PathState& state, const std::map<std::string, RowType>& planned);
  // Extents that change by as much in each iteration of a loop (induction.cpp).
  std::vector<LoopTie> tie_extents(const PathState& entry, const StateMatch& slots, const std::set<std::string>& widened,
                                   const std::string& key);
  std::optional<LoopTie> tie(const PathState& entry, const StateSlot& extent, const StateSlot& rounds, const std::string& key);
  void check_ties(const LoopVersion& version, const PathState& arrival, const StateMatch& match, const std::string& key);

  std::vector<PathState> pending_;
  std::map<std::string, std::vector<LoopVersion>> versions_;  // by place of the header
  int next_version_ = 0;
};

}  // namespace accel
