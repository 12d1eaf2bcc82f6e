#pragma once
// The abstract interpreter: frames, the walk over their instructions, calls. Handlers of instructions are in ops_*.cpp.
//
// The walk follows one path at a time. A jump on a value that is known at run time only parts it into two paths; paths that
// come to one instruction are joined there (explore.cpp). Each path ends in an exit of the graph.

#include <Python.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/context/context.h"
#include "capture/interpreter/exits/recipe_writer.h"
#include "capture/interpreter/frame.h"
#include "capture/interpreter/paths/path_state.h"
#include "capture/interpreter/paths/unify.h"
#include "capture/protocol/conditions.h"
#include "capture/protocol/primitive.h"

namespace accel {

// What a callable made of Python code needs for a frame.
struct PythonFunction {
  Ref function;
  PyRef code, globals, builtins;
  std::vector<Ref> defaults;
  std::vector<std::pair<PyRef, Ref>> keyword_defaults;
  std::vector<Ref> closure;
};

struct WalkOptions {
  int64_t budget = 0;             // instructions
  int64_t node_budget = 0;        // of the graph
  int64_t stop_at_writable = -1;  // n: leave at the n-th position at which all frames can be rebuilt
  bool trace = false;             // keep what each instruction did
  double end = 0;                 // thread_seconds() after which the walk fails
};

// Processor time of this thread.
double thread_seconds();

// Where the graph is left: the block that ends there, and what the interpreter gets. Recipe indices count through these
// outputs.
struct WalkExit {
  BlockId block = 0;  // -1: of no block; the exit is that of an interrupted run at the end of `polled`
  BlockId polled = -1;
  Exit exit;
  std::vector<Recipe> recipes;
  std::vector<ValueId> outputs;
};

struct Step;

class Interpreter final : public Walker {
 public:
  Interpreter(Capture& capture, SpeculationLog& speculation, WalkOptions options);

  // Puts the frame of a call of `function` with these locals (borrowed, null = unbound) at the bottom.
  Status enter(PyObject* function, PyObject* const* locals, int local_count);

  // Walks all paths to their ends. Throws Restart when the speculation log got an addition. Fails for internal reasons only.
  Status run();

  std::vector<WalkExit>& exits() { return exits_; }
  int instructions() const { return static_cast<int>(count_); }
  std::string& trace() { return trace_; }

  // --- for handlers and calls -----------------------------------------------------------------------------------------
  Capture& capture() { return capture_; }
  const Ref& null() const { return null_; }
  // Whether nobody but the running instruction, which has popped it, knows an object: only the copy of the frame has it, too.
  static bool is_temporary(const Ref& popped) { return popped.use_count() == 2; }
  // Calls anything. A Python function gets a frame, the result comes later (nullopt); else the result.
  Result<std::optional<Ref>> begin_call(const Ref& callable, CallArguments arguments);
  // Calls anything and runs it to its end.
  Result<Ref> call_now(const Ref& callable, const CallArguments& arguments);
  Status leave(Ref result);  // returns from the top frame
  Status yield(Ref value);   // suspends the top frame, which is a generator's
  Result<std::optional<Ref>> next_of_generator(const Ref& generator);
  // Begins a round of the for loop over `iterator`, if that is a generator whose code is walked.
  Result<bool> consume(const Ref& iterator);

  // Whether the path may part here: primitives that run Python code cannot go on twice.
  bool may_fork() const { return nesting_ == 0; }
  // Whether a branch on the sizes of arguments is worth a branch in the graph: in loops, where a guard would count their
  // rounds.
  bool may_fork_on_sizes() const;
  // Whether the path is in a loop of the graph.
  bool in_loop() const { return !passed_.empty(); }
  // All objects that the code can get at, but for what the running instruction has popped.
  std::vector<Ref> alive() { return save().keep_objects; }
  // Whether the code that runs is a library's.
  bool in_library() const { return !frames_.empty() && frames_.back()->in_library; }
  // Parts the path: each way goes on with the frame as its function leaves it. Where the path cannot part, it takes the way
  // that can be captured, false before true, and calls that take the other one leave before the instruction that runs.
  using Way = std::function<Status(Frame& frame)>;
  Status fork(const Condition& condition, const Way& when_true, const Way& when_false);
  // Whether the call instruction that runs asks the process for its call (call_sites.cpp); and that call.
  bool is_boxed_call() const;
  Result<Ref> box_call(const Ref& callable, const CallArguments& arguments);
  // The loop over `iterator`, which begins at `header`, has come to its end: the lengths of lists that follow its rounds are
  // said by what it goes over.
  void name_lengths(const Frame& frame, int header, const Ref& iterator);
  // The instruction that runs, a jump, goes to one instruction of the top frame and not to the other, as capture knows.
  void note_known_jump(int taken, int untaken);
  // Capture::require.
  Status leave_unless(ValueId condition, Reason reason, std::string detail);

 private:
  // An extent that grows or shrinks with the rounds of a loop: `sum` is extent -/+ rounds at its header, the same in each
  // round.
  struct Tie {
    std::string extent, rounds;  // slots
    bool grows = true;
    Dim sum;
  };
  struct Version {
    int id = 0;
    PathState state;
    std::set<std::string> widened;
    std::vector<std::pair<std::string, SourceId>> params;  // the block's: slots, and the places that these are part of
    std::vector<Tie> ties;
    int64_t position = 0;  // of its first instruction
    int symbols = 0;       // how many there were before
  };
  enum class Arrival : uint8_t { goes_on, ended };

  // --- frames (interpreter.cpp)
  Status step(Frame& frame);
  Status traced(Step& step);
  Status try_step(Frame& frame);
  Status run_nested(size_t base);  // the frames above `base`; on a failure they are gone
  Status run_down_to(size_t base);
  // Pushes the frame of a call. The result, when it is there at once: a generator.
  Result<std::optional<Ref>> push_frame(PythonFunction function, const CallArguments& arguments);
  Result<std::unique_ptr<Frame>> make_frame(PythonFunction function);
  bool unwind(const Failure& why, size_t base);
  Result<std::optional<Ref>> make_exception(PyObject* type, const CallArguments& arguments);
  Result<std::optional<Ref>> call_named_tuple(const Ref& value, CallArguments arguments);
  Result<std::optional<Ref>> call_class(const Ref& type, const CallArguments& arguments);
  // Whether a call of this code may be inlined. Recursion is, where its depth is a constant, or in a library; else it is
  // called.
  Status check_depth(PyObject* code) const;
  // How often the path has parted, or a guard has decided where it goes.
  int64_t decisions() const;
  Result<std::optional<Ref>> walk_builtin(PyObject* code, const CallArguments& arguments);
  PathState state_before() const;
  Result<std::shared_ptr<const FunctionCode>> code_of(PyObject* code);
  PythonFunction constant_function(const Ref& function);
  PythonFunction made_function(const Ref& function);
  Ref cell_of(PyObject* cell, const std::string& name);
  // Callables that are not looked at (calls_by_parts.cpp): how they are called; null: they have to be looked at.
  using CallByParts = Result<std::optional<Ref>> (Interpreter::*)(const Ref& callable, CallArguments arguments);
  CallByParts by_parts(const Ref& callable) const;
  PythonFunction function_by_parts(const Ref& function);
  void guard_called(const Ref& callable);  // by the process: which code it is
  Ref cell_at(SourceId source, PyObject* cell, const std::string& name);
  Result<std::optional<Ref>> call_function_by_parts(const Ref& function, CallArguments arguments);
  Result<std::optional<Ref>> call_method_by_parts(const Ref& method, CallArguments arguments);
  Result<std::optional<Ref>> call_partial_by_parts(const Ref& partial, CallArguments arguments);
  Result<std::optional<Ref>> call_constant(const Ref& callable, CallArguments arguments);
  Result<std::optional<Ref>> call_primitive(Primitive primitive, PyObject* object, const CallArguments& arguments);
  Result<std::optional<Ref>> call_bound_builtin(PyObject* object, CallArguments arguments);
  Result<std::optional<Ref>> call_method(const Ref& method, CallArguments arguments);
  Result<std::optional<Ref>> call_parts(const AbstractValue& partial, CallArguments arguments);
  Result<std::optional<Ref>> call_partial(const Ref& partial, CallArguments arguments);
  Result<std::optional<Ref>> call_dispatcher(PyObject* dispatcher, CallArguments arguments);
  void set_location(const Frame& frame, const Instruction& instruction);
  bool over_budget() const;
  Status check_time() const;
  void limit_unrolling();

  // --- one path (explore.cpp)
  Status walk_path();
  Result<Arrival> arrive(Frame& frame);
  Status wait();
  bool is_rolled(Frame& frame);
  bool is_consumer(const Frame& frame);
  void note_round(Frame& frame);
  PathState save();
  void restore(const PathState& state);
  std::string place_name() const;
  static std::string place_name(const std::vector<const Frame*>& frames);
  void forget_moved_exit(const PlannedExit& planned);
  Status take_one_way(const Condition& condition, const Way& when_true, const Way& when_false);
  void take_other_way();

  // --- generators (generators.cpp)
  void end_consumer();
  bool is_walked(const std::string& place);
  bool may_walk(const std::string& place) const;
  void walk_instead();
  void stop_walking();

  // --- where paths meet (merge.cpp)
  Status resume_next();
  std::vector<PathState> take_first();
  void add_unmet(PathState& state) const;
  void keep_alike(std::vector<PathState>& arrivals, const std::set<std::string>& widened);
  void close_loops(std::vector<PathState>& arrivals, const std::string& place);
  void close_loop(const Version& version, const PathState& arrival, const StateMatch& match, const std::string& key);
  std::optional<std::vector<ValueId>> arguments_of(const Version& version, const PathState& arrival, const StateMatch& match);
  Status begin_version(std::vector<PathState>& arrivals, const std::string& place);
  std::set<std::string> join_into(std::vector<PathState>& arrivals, const std::set<std::string>& widened);
  void look_at_live(const Frame& frame);
  void look_at_data(const Ref& value);
  void forget_left_loops();
  bool gather_selections(const PathState& state);
  // Lists that grow (merge_lists.cpp).
  void plan_growth(const Version& version, const StateSlot& list, const std::string& key);
  void grow_lists(std::vector<PathState>& arrivals, const std::string& key);
  void grow_lists(PathState& state, const std::map<std::string, RowType>& planned);
  bool settle_lists(const PathState& state);
  // Extents that grow by as much in each iteration of a loop (induction.cpp).
  std::vector<Tie> tie_extents(const PathState& entry, const StateMatch& slots, const std::set<std::string>& widened,
                               const std::string& key);
  std::optional<Tie> tie(const PathState& entry, const StateSlot& extent, const StateSlot& rounds, const std::string& key);
  void check_ties(const Version& version, const PathState& arrival, const StateMatch& match, const std::string& key);
  std::set<std::string> add_params(BlockId block, PathState& target, const std::vector<StateSlot>& slots,
                                   const std::set<std::string>& names);
  void memory_param(BlockId block, PathState& target, const StateSlot& slot, const std::vector<Dim>& extents);
  Dim extent_param(BlockId block, const StateSlot& slot);
  ValueId argument(const PathState& from, const StateSlot& slot, bool of_target);
  ValueId identity_argument(const PathState& from, const StateSlot& slot, bool of_target);
  void forget_dead(Frame& frame, bool waits) const;
  void forget_dead_contents();

  // --- exits (exits.cpp)
  Status leave_by_return();
  BlockId add_interrupt(const PathState& arrival, bool waits);
  bool add_free_interrupt(const PathState& arrival);
  BlockId add_whole_interrupt();
  bool waits_for_others(BlockId header, BlockId latch) const;
  bool asks_others(BlockId header, BlockId latch) const;
  void note_reading();
  std::set<std::string> arrays_awaited(BlockId header, BlockId latch) const;
  bool plan_waiting(const std::string& loop, BlockId header, const PathState& arrival);
  void reload_awaited(std::vector<PathState>& arrivals, const std::string& loop);
  Result<std::vector<FrameRecipe>> write_raising_frames(RecipeWriter& writer, const std::vector<const Frame*>& frames) const;
  Status leave_for(const PlannedExit& planned);
  void guard_what_follows(const PlannedExit& planned);
  void end_block(RecipeWriter& writer, Exit exit);
  Status leave_earlier(const PlannedExit& planned);
  Status give_up_loop();
  std::vector<const Frame*> live_frames() const;
  // all_wait: the innermost frame waits for a call, too.
  Result<std::vector<FrameRecipe>> write_frames(RecipeWriter& writer, const std::vector<const Frame*>& frames,
                                                bool all_wait = false) const;
  std::vector<const Frame*> frames_before() const;
  // Rebuilds the frames, or those of the builtin's call that is walked.
  Result<std::vector<FrameRecipe>> write_exit(RecipeWriter& writer, const std::vector<const Frame*>& frames);
  bool is_writable();
  Status plan_exit(const Failure& why);
  bool is_raising() const;
  bool forks_inside() const;
  void unroll_instead(const Failure& why);
  [[noreturn]] void unroll(const std::string& loop);
  void box_instead(const Failure& why);
  void box_manager(std::vector<const Frame*> frames, const Failure& why);
  void box_at(const std::vector<const Frame*>& frames, const Failure& why);
  void hand_over(const Ref& value);
  bool is_ignored() const;
  Status write_site(PythonCall& site, RecipeWriter& writer, const Ref& callable, const std::vector<Ref>& given);
  Status assume_result(PythonCall& site, BoxedCall& call, size_t candidates) const;
  ValueId add_call(const PythonCall& site, const RecipeWriter& writer, BoxedCall& call);
  Ref received_identity(ValueId made, size_t result);
  void number_objects(const PythonCall& site, const RecipeWriter& writer, ValueId made);
  void add_dead_names(const RecipeWriter& writer, const std::vector<const Frame*>& frames,
                      std::vector<FrameRecipe>& recipes) const;
  Result<Ref> result_of_call(const PythonCall& site, ValueId made, BoxedCall& call);
  Location where(const std::vector<const Frame*>& frames) const;
  Failure budget_failure();

  Capture& capture_;
  SpeculationLog& speculation_;
  WalkOptions options_;
  Ref null_;
  std::vector<std::unique_ptr<Frame>> frames_;
  std::unordered_map<PyObject*, std::shared_ptr<const FunctionCode>> codes_;
  std::unordered_map<PyObject*, Ref> cells_;
  std::unordered_map<SourceId, Ref> cells_at_;
  Ref result_, nested_result_;
  bool yielded_ = false;  // nested_result_ was yielded
  int64_t count_ = 0;
  std::string trace_;
  int nesting_ = 0, next_frame_id_ = 0;

  // The path that is walked.
  std::vector<PassedLoop> passed_;
  int forks_ = 0;
  bool speculative_ = false;  // what is walked is dropped again
  bool has_read_ = false;     // what somebody else may change, since the path began or parted
  int64_t position_ = 0;      // of the instruction that runs
  int64_t writable_ = -1, writable_count_ = 0;
  int writable_forks_ = 0;  // how often the path had parted there
  Frame before_;            // the top frame before the instruction that runs
  size_t depth_before_ = 0;
  int64_t effects_before_ = 0;
  BlockId check_block_ = -1;  // the exit that checks of the instruction at check_position_ share
  int64_t check_position_ = -1;
  Reason check_reason_ = Reason::assumption_failed;  // of that exit
  std::string walkable_;                             // the place in walked that the instruction that runs could have
  std::vector<std::string> one_way_;                 // places in taken that the instruction that runs has passed
  bool ended_ = false;                               // the instruction that runs has ended its path
  bool resumed_ = false;                             // the path has just been resumed where it had waited
  bool returned_ = false;                            // from a call in which paths have parted

  // Where what somebody else may change decides whether a loop ends: blocks in which capture knows it, and conditions.
  std::set<BlockId> known_flags_;
  std::set<ValueId> flags_;

  std::vector<PathState> pending_;
  std::map<std::string, std::vector<Version>> versions_;
  int next_version_ = 0;
  std::vector<WalkExit> exits_;
  std::map<std::pair<int, int>, std::pair<int64_t, int64_t>> visits_;  // (frame, header): position of first visit, visits
};

// The generator that a call of a generator function gives: `frame` is before its first instruction.
Ref make_generator(Frame frame);

// Code of NumPy: its frames are not named in reports.
bool is_library_file(const std::string& file);

// Binds the arguments of a call to locals as CPython does (the first co_nlocalsplus entries of the result). Fails with
// will_raise.
Result<std::vector<Ref>> bind_call(Capture& capture, const PythonFunction& function, const CallArguments& arguments);

// A handler does what one instruction does to the frame. frame.next is already the following instruction.
struct Step {
  Interpreter& interpreter;
  Capture& capture;
  Frame& frame;
  const Instruction& instruction;
};
using OpcodeHandler = Status (*)(Step& step);  // null in the table: unsupported_opcode

}  // namespace accel
