#pragma once
// Capture: the state of one abstract interpretation. capture() in captured.h is the entry point.

#include <Python.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/context/integers/linear_forms.h"
#include "capture/context/sources/side_effects.h"
#include "capture/context/sources/sources.h"
#include "capture/domain/element_type.h"
#include "capture/domain/value.h"
#include "capture/product/call_site.h"
#include "capture/product/captured.h"
#include "capture/protocol/primitive.h"

namespace accel {

class Interpreter;

// What earlier attempts at the same capture found out. Capture is deterministic, so an attempt that learns something which it
// should have known before is dropped and repeated.
struct Plan {
  // By symbol, what it equals (a guard says so). What was learnt may change what the walk meets, and so the numbers of symbols.
  struct Substitution {
    std::string text;                                // of a Dim over lower symbols
    std::vector<std::pair<int, std::string>> names;  // of the symbol and of those in the text
  };
  std::map<int, Substitution> substitutions;
  std::set<std::string> promoted;  // texts of the sources whose numbers must be constants
  // By the text of its source, an object that the code changes: names of attributes that it sets, or that lead to others of
  // these.
  std::map<std::string, std::set<std::string>> changed;
  // The same of attributes and items that calls of the process may see: every exit stores them.
  std::map<std::string, std::set<std::string>> shown;
  // Objects that only the interpreter may change, and what shares their names, by the texts of their sources.
  std::map<std::string, std::string> left_alone;
  // Texts of array sources of which one is written, and the other one is the same object, or shares memory with it.
  std::set<std::pair<std::string, std::string>> same, shared;
  // Places that are looked at before all others, by the texts of their sources: loops change what is there.
  std::map<std::string, SeenPlace> early;

  // Where paths meet, by the place's name.
  // Slots whose values differ between the edges into a loop's header, by loop.
  std::map<std::string, std::set<std::string>> widened;
  // Dynamic lists: the types of their rows, by loop and slot.
  std::map<std::string, std::map<std::string, RowType>> dynamic_lists;
  std::set<std::string> untied;    // extents that are no function of the iteration number of their loop
  std::set<std::string> rolled;    // loops that must be loops of the graph
  std::set<std::string> unrolled;  // loops that capture must unroll
  std::set<std::string> given_up;  // loops that are left to the interpreter
  // By loop, arrays that nothing in it changes but that decide whether it ends: somebody else may. Texts of sources.
  std::map<std::string, std::set<std::string>> awaited;
  std::set<std::string> waiting;  // loops that nothing they do makes end
  // Branches where the path cannot part, by place: the way that is taken, all others leave; none: neither way can be captured.
  std::map<std::string, std::optional<bool>> taken;
  // Exits for what cannot be captured, by position.
  struct PlannedExit {
    Failure why;
    std::string file;  // of the instruction that cannot be captured
    int line = 0;
    int64_t failed = 0;  // its position
    std::string place;   // where the exit is; empty: not known
  };
  std::map<int64_t, PlannedExit> exits;
  // Places that consume a generator, or another iterable by a builtin, and are walked like loops of Python code instead of
  // being evaluated at capture; false: that does not work either.
  std::map<std::string, bool> walked;
  // Calls that compiled code asks the process to make, by place.
  struct PlannedCall {
    Failure why;           // it is not compiled
    bool possible = true;  // false: it cannot be made from compiled code either
  };
  std::map<std::string, PlannedCall> boxed;
  std::set<std::string> opaque;  // texts of the sources of containers that such calls get: nobody looks into them in advance
  const std::map<std::string, SeenResult>* seen_results = nullptr;
  bool watch = false;                       // find out where frames can be rebuilt
  bool fixed_sizes = false;                 // extents are constants
  std::set<Reason> learned;                 // assumptions that failed in earlier versions: both cases are compiled
  std::set<std::string> changed_constants;  // texts of sources that are data wherever they are

  // The walk ends at a position: those behind it are of other instructions now. False: it was to end there already.
  bool end_at(int64_t position, PlannedExit exit) {
    exits.erase(exits.upper_bound(position), exits.end());
    return exits.emplace(position, std::move(exit)).second;
  }
  // Numbers of symbols and positions hold only as long as the walk takes the same ways.
  void forget_from(int64_t position, int symbol) {
    exits.erase(exits.lower_bound(position), exits.end());
    substitutions.erase(substitutions.lower_bound(symbol), substitutions.end());
  }
  void forget_numbering() {
    substitutions.clear();
    exits.clear();
  }
};

// Thrown when the plan got an addition, caught by capture(). Never crosses a CPython frame.
struct Restart {};
// Thrown by what has no other way to say that the instruction has to be left to the interpreter; caught likewise.
struct Abandoned {
  Failure why;
};

// Thrown where an exit would hand over objects that the code behind it tells from those it made itself: all of the function is
// left to the interpreter. Caught by capture().
struct Refused {
  Failure why;
};

class Capture {
 public:
  static constexpr uint8_t sign_negative = 1;
  static constexpr int64_t runtime_limit = int64_t{1} << 46;  // of integers that are checked for their size

  Capture(Graph& graph, GuardSet& guards);
  Capture(Graph& graph, GuardSet& guards, Plan* plan);

  Graph& graph() { return graph_; }
  Builder& build() { return builder_; }
  DimTable& dims() { return graph_.dims; }
  Sources& sources() { return sources_; }
  ChangedObjects& changes() { return changes_; }

  // --- values -------------------------------------------------------------------------------------------------------
  // Borrowed; an exact tuple or slice gives that kind, unless it is nested too deeply to be taken apart.
  Ref constant(PyObject* object);
  Ref python_int(int64_t value);
  Ref dim_scalar(Dim d, ValueKind kind = ValueKind::py_scalar);  // constant when d is one
  Ref scalar(ValueId value);                                     // kind and dtype from the value's type
  Ref tuple(std::vector<Ref> items);
  Ref shape_tuple(const std::vector<Dim>& shape);
  Ref list(std::vector<Ref> items);
  Ref method(Ref callable, Ref self);
  Ref set(PyRef object);  // takes a set that nobody else has
  Ref instance(PyTypeObject* type);
  // Whole new storage. Throws Abandoned for more axes than NumPy's arrays may have, as view_of() does.
  Ref fresh_array(ValueId value);
  Ref view_of(const Ref& array, ViewStep step, Lens lens, ValueId value);
  // Current contents of an array, re-derived when its storage was stored to.
  ValueId read(const Ref& array);
  // Whether the argument at a source is writeable; guards on it.
  bool is_writeable(SourceId source);
  // A call is made that may change every array of the caller's: its memory has new contents.
  void reload_memory();
  // A call is made that may change these arrays of the caller's, which are named by the texts of their sources.
  void reload_memory(const std::set<std::string>& arrays);
  // The text of the source of the array that an input of the graph is; empty: it is none.
  std::string array_of_input(ValueId input) const;
  // Whether the code has calls that may do anything, and so see which object is which.
  bool calls_python() const { return !plan_.boxed.empty(); }
  bool& memory_is_stale() { return memory_is_stale_; }
  // The whole memory, current version.
  ValueId contents(const Storage& storage);
  // The same but for what calls have done to an argument that was not read behind them: nothing is added to the graph's code.
  ValueId known_contents(const Storage& storage);
  // Whether the array's memory can be stored to, with guards on what that needs. Before anything is emitted.
  Status check_storable(const Ref& array);
  // The array's elements, where `mask` holds if there is one, become those of `value`: a new version of the memory. Value and
  // mask have the array's shape, or rank 0. Requires check_storable().
  void store(const Ref& array, ValueId value, ValueId mask = no_value);
  // The elements as `dtype`. Throws Abandoned where NumPy warns whatever the elements are: an imaginary part is discarded.
  ValueId astype(ValueId value, DType dtype);
  // Rank-0 graph value of a scalar or of a constant Python/NumPy number.
  Result<ValueId> scalar_value(const Ref& scalar);

  // --- what comes from outside ---------------------------------------------------------------------------------------
  // The value at a source that holds `seen` (borrowed); unread until look(). One source has one Ref.
  Ref at(SourceId source, PyObject* seen);
  // Finds out the kind of an unread value and guards on it. Arguments of primitives have been looked at, items of containers
  // too.
  void look(const Ref& value);
  void look_deep(const Ref& value);
  // The next attempt looks at a source from the start. False: this one has done so.
  bool plan_early_look(SourceId source);
  std::vector<Ref> seen_early();
  // The next attempt knows from the start that the code changes the object at a source, by setting this attribute (null: an
  // item): starts again. Returns when it was known.
  void plan_change(SourceId owner, PyObject* name);
  // Type of the Python object (borrowed); null for NULL.
  PyTypeObject* type_of(const Ref& value);
  // Why an object has no abstract form beyond its type (array_subclass, unsupported_dtype, ...).
  Failure refusal(const Ref& object);

  // --- what is known at capture -----------------------------------------------------------------------------------
  int64_t hint(Dim d) const;  // value at this call
  // Value of an integer that a rule needs now: constants as they are; Dims are fixed by a guard.
  Result<int64_t> require_int(const Ref& value);
  // The Python object of a value that a rule needs now: constants; numbers are promoted with a guard; tuples, lists and slices
  // of those. New reference.
  Result<PyRef> require_constant(const Ref& value);
  bool is_constant(const Ref& value) const;
  // What NumPy computes for a value of the graph that depends on constants alone: a number, or an array of few elements; else
  // null.
  PyRef known_value(const Ref& scalar);
  PyRef known_value(ValueId value);
  // Decides `left comparison right` by this call's values and guards on it. Constant relations need no guard.
  bool decide(Dim left, Comparison comparison, Dim right);
  // Sizes known at run time only: takes them to be equal, which compiled code checks, unless they are known to differ.
  bool assume_equal(Dim left, Dim right);
  // Decides what holds unless NumPy raises: of what is known at run time only compiled code checks it.
  bool expect(Dim left, Comparison comparison, Dim right);
  bool expect_equal(Dim left, Dim right) { return expect(left, Comparison::eq, right); }
  bool is_known_equal(Dim left, Dim right);
  bool decide_equal(Dim left, Dim right) { return decide(left, Comparison::eq, right); }
  // Whether `d` fits int64 for all entry symbols, after guards on their size where these help, and is no endless expression.
  bool fits(Dim d);
  // The same after compiled code has checked the size of what is known at run time only.
  bool assume_fits(Dim d);
  // While one lives, `reason` is that of decisions about what is known at run time only. Where calls have met both ways,
  // nothing is decided: answers are guesses, and is_open() says that there were some.
  class Assumptions {
   public:
    Assumptions(Capture& capture, Reason reason);
    ~Assumptions();
    Assumptions(const Assumptions&) = delete;
    Assumptions& operator=(const Assumptions&) = delete;
    bool is_open() const { return open_; }

   private:
    friend class Capture;
    Capture& capture_;
    Assumptions* outer_;
    Reason reason_;
    bool both_, open_ = false;
  };
  // --- what is known at run time only ---------------------------------------------------------------------------------
  // Compiled code leaves for the interpreter before the instruction that is being captured where `condition` (bool, rank 0) is
  // false. To be called before the instruction changes anything.
  Status require(ValueId condition, Reason reason, std::string detail);
  // Says that the instruction has changed something: memory or a container.
  // `lasts`: something that Python can see or could see before.
  void note_effect(bool lasts) {
    ++effects_;
    lasting_effects_ += lasts;
  }
  int64_t effects() const { return effects_; }
  int64_t& lasting_effects() { return lasting_effects_; }  // of the path that is walked
  // An index that counts from the end where it is negative, counted from the start. `may_assume`: its sign may be taken from
  // this call, as long as no call had another one.
  Dim from_start(Dim at, Dim length, bool may_assume);
  // A new symbol that has the value of `value` (int64 of rank 0) from here on, and lies in [low, high].
  Dim bind_dim(ValueId value, std::string name, int64_t hint, double low, double high);
  // Off while an exit is written in the midst of a path: what is bound there is not known behind it.
  bool keeps_symbols() const { return keeps_symbols_; }
  void keep_symbols(bool keep) { keeps_symbols_ = keep; }
  bool is_runtime(Dim d) const;
  bool is_bound(int symbol) const { return runtime_symbols_.count(symbol) != 0; }
  // Whether d >= 0 whenever control comes here: by what is known, or by guards that hold for this call.
  bool prove(Dim d);
  // The same without further guards.
  bool knows(Dim d);
  // What holds on the path that is being walked. Each is >= 0.
  std::vector<Dim>& facts() { return facts_; }
  void assume(const Relation& relation);
  static Relation inverse(const Relation& relation);
  // The truth of a comparison of ints: a constant when it is known or when a guard may decide it, else a bool that compiled
  // code computes.
  Ref compare_dims(Dim left, Comparison comparison, Dim right, ValueKind kind);
  ValueId compare_at_run_time(const Relation& relation, ValueKind kind);
  // How many guards there are on sizes and numbers.
  int64_t decided_by_guards() const;
  // Whether a branch on this integer may become a branch of the graph here.
  bool may_fork(Dim d) const;
  bool in_library() const;         // whether the code that runs is NumPy's own
  bool in_loop() const;            // whether the path is in a loop of the graph
  std::vector<Ref> alive() const;  // all objects that the captured code can get at, but for what an instruction has popped
  double low(Dim d) const { return range_of(d).low; }
  double high(Dim d) const { return range_of(d).high; }
  // Forgets cached graph values of what comes from outside: they may lie on another path.
  void forget_caches(const std::vector<Ref>& kept);
  std::vector<Ref> mutable_sources() const;

  // A scalar computed from nothing but numbers of the call: they become constants and capture starts again. Else returns.
  void promote_inputs_of(const Ref& scalar);

  // --- calls ---------------------------------------------------------------------------------------------------------
  // Traces a call of a Python function (a constant) as if the current instruction had made it. Used by primitives that forward
  // to functions NumPy implements in Python. The result replaces the primitive's own.
  Result<Ref> call_python(PyObject* function, const CallArguments& arguments);
  // The same for any callable value: primitives, Python functions, dispatchers.
  Result<Ref> call(const Ref& callable, const CallArguments& arguments);
  // Runs a generator to its next yield; nullopt: it has ended.
  Result<std::optional<Ref>> next_of_generator(const Ref& generator);

  // Calls that compiled code asks the process to make (callbacks.h).
  std::vector<BoxedCall>& calls() { return calls_; }
  Errstate& errstate() { return errstate_; }
  // Where warnings would point to while the next instruction runs (event_sites.h).
  void set_event_place(EventPlace place);
  EventState event_state() const;
  void set_event_state(const EventState& state);
  std::vector<EventSite>& event_sites() { return sites_; }
  // What setting it has given, and resetting it has not taken yet; outermost first.
  std::vector<Ref>& errstate_tokens() { return errstate_tokens_; }

  // --- exceptions ----------------------------------------------------------------------------------------------------
  // A will_raise of an exception that handlers in the captured code may catch: the pending Python exception (cleared), or one
  // of this type. Only its type can be seen, so texts need not be Python's.
  Failure raised();
  Failure raised(PyObject* type, const std::string& text);
  Failure raised(PyRef exception);
  // The exception of a failure, null when it is not known.
  PyRef exception_of(const Failure& failure) const;

  void note(Reason reason, std::string detail);
  std::vector<Note>& notes() { return notes_; }
  void attach(Interpreter* interpreter) { interpreter_ = interpreter; }
  // Names the node of the graph after the instruction that runs.
  void set_location(const std::string& file, int line);
  Location location() const { return where_; }

 private:
  friend class EventCall;
  friend class OperandCast;
  struct Range {
    double low = 0, high = 0;
  };
  void open_event_site(std::string name);
  void close_event_site();
  void add_event_site(std::string name);
  void leave_site();
  void set_site(int site);

  Ref constant_within(PyObject* object, int levels, std::unordered_map<PyObject*, Ref>& made);
  static void check_rank(size_t rank);
  void plan_similar_changes(const AbstractValue& changed);
  void look_array(const Ref& value);
  void look_number(const Ref& value, PyTypeObject* type, DType dtype);
  void look_container(const Ref& value);
  void look_dict(const Ref& value);
  void meet_container(const Ref& value);
  bool look_constant(const Ref& value);
  void look_object(const Ref& value);
  int add_symbol(const std::string& name, int64_t hint, Range range);
  Dim symbol_dim(int symbol);
  void guard_relation(Dim left, Comparison comparison, Dim right);
  void substitute_if_possible(Dim left, Dim right);
  Plan::Substitution substitution_of(int symbol, Dim by);
  bool substitute(Dim symbol, Dim by);
  Range range_of(Dim d) const;
  bool limit_symbols(Dim d, double limit);
  bool fits_with_limits(Dim d);
  bool is_within_limit(int symbol);  // whether a bound symbol is, on this path
  void assume_apart(Dim up, Dim down);
  void require_relation(const Relation& relation, Reason reason = Reason::assumption_failed);
  std::string relation_text(const Relation& relation) const;
  bool decide_runtime(Dim left, Comparison comparison, Dim right);
  // The same of numbers whose difference may leave int64 (is_far).
  bool is_far_apart(Dim left, Dim right) const;
  bool decide_far(Dim left, Comparison comparison, Dim right);
  // By what range each of them has.
  std::optional<bool> told_by_ranges(Dim left, Comparison comparison, Dim right) const;
  // `failed` holds the goals that could not be proved so far, with the depths they were tried at.
  bool prove_by_facts(Dim d, int depth, std::map<int32_t, int>& failed);
  bool eliminate_newest(Dim d, int depth, std::map<int32_t, int>& failed);
  std::optional<bool> known_relation(Dim left, Comparison comparison, Dim right);
  // The same where no guard is asked for.
  std::optional<bool> told_by_facts(Dim left, Comparison comparison, Dim right);
  uint8_t signs_of(Dim difference) const;
  Status check_argument(SourceId written);
  bool relate(SourceId written, SourceId other);
  Failure refuse_shared(SourceId written, const std::string& other);
  Ref alias_of(SourceId source, PyObject* seen);
  ValueId input_of(SourceId source);
  ValueId own_contents(ValueId value, const std::vector<uint8_t>& order);
  ValueId viewed(ValueId memory, const std::vector<ViewStep>& path, size_t count);
  ValueId stored(ValueId memory, bool in_order, const std::vector<ViewStep>& path, ValueId value, ValueId mask);
  Status promote(const Ref& value);
  Result<PyRef> require_items(const Ref& value);
  PyRef constant_number(ValueKind kind, int64_t value);

  Graph& graph_;
  GuardSet& guards_;
  Builder builder_;
  Plan own_plan_;
  Plan& plan_;
  Sources sources_;
  ChangedObjects changes_;
  Interpreter* interpreter_ = nullptr;
  std::unordered_map<SourceId, Ref> at_;
  std::unordered_map<SourceId, size_t> array_guards_;  // index into guards
  std::unordered_map<ValueId, SourceId> scalar_inputs_;
  std::unordered_map<int, SourceId> symbol_sources_;  // numbers
  std::map<SourceId, ValueId> array_inputs_;          // arguments whose memory the graph reads or writes
  std::set<SourceId> written_;                        // those it writes
  std::vector<Range> symbol_ranges_;
  std::unordered_map<int32_t, uint8_t> signs_;  // what guards say about the sign of a Dim
  std::set<int> runtime_symbols_;
  std::vector<Dim> facts_;
  LinearForms forms_{graph_.dims};
  Assumptions* assumptions_ = nullptr;  // the innermost
  bool may_guard_ = true, keeps_symbols_ = true;
  int64_t effects_ = 0, lasting_effects_ = 0;
  std::vector<Note> notes_;
  std::vector<BoxedCall> calls_;
  Errstate errstate_;
  std::vector<EventSite> sites_;
  EventPlace place_;
  int open_calls_ = 0;  // EventCalls that live
  std::vector<Ref> errstate_tokens_;
  bool memory_is_stale_ = false;  // on this path
  PyRef exception_;               // of the last failure that raised() made, and its detail
  std::string exception_detail_;
  std::string file_;
  Location where_;
};

// numpy.ndarray, and the Python type that a py_scalar of this dtype has (borrowed).
PyTypeObject* array_type();
PyTypeObject* python_type_of(DType dtype);

}  // namespace accel
