#include "capture/interpreter/exits/call_sites.h"

#include <algorithm>

#include "capture/domain/recognised_types.h"
#include "capture/domain/repr.h"
#include "capture/interpreter/exits/borrowed_slots.h"
#include "capture/interpreter/frame_watchers.h"
#include "capture/interpreter/interpreter.h"
#include "capture/protocol/masked_selection.h"
#include "capture/protocol/operations.h"
#include "capture/python/texts.h"
#include "cpython/bytecode/with_statement.h"
#include "cpython/imported.h"

namespace accel {

namespace {

// Builtins that read the variables of the frame that calls them, or count references to them.
bool looks_at_caller(PyObject* callable) {
  static const std::vector<PyObject*> known = [] {
    std::vector<PyObject*> out;
    for (const FrameWatcher& watcher : frame_watchers) {
      if (!watcher.calls_alone) continue;
      PyRef found = imported_attribute(watcher.module, watcher.type != nullptr ? watcher.type : watcher.name);
      if (found && watcher.type != nullptr) found = PyRef::steal(PyObject_GetAttrString(found.get(), watcher.name));
      if (found) out.push_back(found.release());
    }
    return out;
  }();
  return std::find(known.begin(), known.end(), callable) != known.end();
}

// Whether a call may mutate the object that the recipe makes, apart from elements of arrays.
bool is_changeable(const std::vector<Recipe>& recipes, const Recipe& recipe) {
  const RecipeKind kind = recipe.kind;
  PyObject* object = recipe.object.get();
  if (kind == RecipeKind::call && object == operator_call())
    return recipes[static_cast<size_t>(recipe.parts[0])].kind != RecipeKind::attribute;  // a generator, or a view of a dict
  if (kind == RecipeKind::call && object == reinterpret_cast<PyObject*>(known_types().partial))
    return true;  // it has attributes
  if (kind == RecipeKind::call && object == reinterpret_cast<PyObject*>(known_types().iinfo)) return true;
  if (kind == RecipeKind::attribute && PyUnicode_CompareWithASCIIString(object, "flat") == 0) return true;
  return kind == RecipeKind::list || kind == RecipeKind::list_of_rows || kind == RecipeKind::list_of_tuples ||
         kind == RecipeKind::list_of_lists || kind == RecipeKind::dict || kind == RecipeKind::instance ||
         kind == RecipeKind::iterator || kind == RecipeKind::cell || kind == RecipeKind::function;
}

// The recipes that are reachable from the added ones.
class Reach {
 public:
  explicit Reach(const std::vector<Recipe>& recipes) : recipes_(recipes), marked_(recipes.size(), false) {}
  void add(RecipeId id) {
    if (id < 0 || marked_[static_cast<size_t>(id)]) return;
    marked_[static_cast<size_t>(id)] = true;
    for (RecipeId part : recipes_[static_cast<size_t>(id)].parts) add(part);
  }
  bool has(RecipeId id) const { return marked_[static_cast<size_t>(id)]; }

 private:
  const std::vector<Recipe>& recipes_;
  std::vector<bool> marked_;
};

// Finds out which objects used after the call the callable can reach.
Status find_shared(PythonCall& site) {
  const std::vector<Recipe>& recipes = site.recipes;
  Reach used_after(recipes), given(recipes);
  std::vector<bool> is_framed(recipes.size(), false);
  for (const FrameRecipe& frame : site.frames) {
    for (const std::vector<RecipeId>* ids : {&frame.locals, &frame.stack}) {
      for (RecipeId id : *ids) {
        used_after.add(id);
        if (id >= 0) is_framed[static_cast<size_t>(id)] = true;
      }
    }
  }
  given.add(site.callable);
  for (RecipeId id : site.arguments) given.add(id);
  if (site.result == ResultKind::argument) used_after.add(site.candidates[static_cast<size_t>(site.argument)]);
  for (const StoreRecipe& store : site.stores) {
    used_after.add(store.value);
    given.add(store.value);
  }
  std::vector<bool> leads(recipes.size(), false), is_stand_in(recipes.size(), false);
  for (const Recipe& recipe : recipes) {
    if (is_shown(recipe.kind) && !recipe.parts.empty()) is_stand_in[static_cast<size_t>(recipe.parts[0])] = true;
  }
  for (size_t k = 0; k < recipes.size(); ++k) {
    RecipeId id = static_cast<RecipeId>(k);
    if (is_shown(recipes[k].kind) && used_after.has(id)) {
      site.named.push_back(id);
      if (!is_framed[k]) site.derived.push_back(id);
    }
    if (is_stand_in[k]) continue;
    bool fresh = is_fresh_array(recipes[k].kind) && used_after.has(id);
    if (fresh && given.has(id)) site.changed.push_back(id);
    if (given.has(id) && used_after.has(id) && is_changeable(recipes, recipes[k]))
      return fail(Reason::unsupported_argument, "a container that the function has made and uses behind the call");
    leads[k] = fresh || std::any_of(recipes[k].parts.begin(), recipes[k].parts.end(),
                                    [&](RecipeId part) { return part >= 0 && leads[static_cast<size_t>(part)]; });
    if (leads[k] && (given.has(id) || used_after.has(id))) site.watched.push_back(id);
  }
  std::erase_if(site.shown, [&](RecipeId id) { return !given.has(id) || !used_after.has(id); });
  return Unit{};
}

}  // namespace

bool CallSites::is_planned() const {
  if (walk_.nesting > 0 || speculation_.control.calls.empty()) return false;
  auto found = speculation_.control.calls.find(place_of(walk_.frames_before()));
  return found != speculation_.control.calls.end() && found->second.possible;
}

namespace {

Opcode op_at(const Frame& frame, int index) { return frame.bytecode().instructions[static_cast<size_t>(index)].op; }

bool is_call(const Frame& frame, int index) {
  const Opcode op = op_at(frame, index);
  return op == Opcode::call || op == Opcode::call_function_ex;
}

// Whether an instruction that is no call does nothing but call a function and push its result.
bool is_only_call(const Frame& frame, int index) {
  const auto& instructions = frame.bytecode().instructions;
  const Opcode op = op_at(frame, index);
  const bool calls =
      op == Opcode::before_with || op == Opcode::convert_value || op == Opcode::format_simple || op == Opcode::format_with_spec;
  return calls && instructions[static_cast<size_t>(index)].is_resume_point() &&
         instructions[static_cast<size_t>(index) + 1].is_resume_point();
}

// Whether the call that runs in the frame is that of __enter__, whose method load_special has loaded.
bool calls_enter(const Frame& frame) { return is_call_of_enter(frame.bytecode(), frame.next - 1); }

// A tuple of the names of the keywords; null if there are none.
PyRef names_of(const CallArguments& arguments) {
  if (arguments.keywords.empty()) return {};
  PyRef names = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(arguments.keywords.size())));
  Py_ssize_t at = 0;
  for (const auto& keyword : arguments.keywords)
    PyTuple_SET_ITEM(names.get(), at++, PyUnicode_InternFromString(keyword.first.c_str()));
  return names;
}

bool is_in_loop(const std::vector<const Frame*>& frames) {
  return std::any_of(frames.begin(), frames.end(),
                     [](const Frame* frame) { return !frame->flow().headers_around(frame->next).empty(); });
}

template <size_t count>
bool is_among(const Reason (&reasons)[count], Reason reason) {
  return std::find(std::begin(reasons), std::end(reasons), reason) != std::end(reasons);
}

}  // namespace

// A call that cannot be captured is made by the process, if possible. So is a call of a function that contains the failing
// instruction, if the function is NumPy's or an exit would end a loop that contains the call.
void CallSites::plan_instead(const Failure& why) {
  constexpr Reason of_calls[] = {Reason::unsupported_call,  Reason::unsupported_argument, Reason::unsupported_attribute,
                                 Reason::unsupported_dtype, Reason::unsupported_layout,   Reason::unsupported_value,
                                 Reason::array_subclass,    Reason::store_to_argument,    Reason::generator,
                                 Reason::will_warn};
  constexpr Reason never[] = {Reason::will_raise, Reason::internal_error, Reason::floating_point_event, Reason::capture_budget};
  if (walk_.speculative || walk_.running.depth == 0 || interpreter_.planner().is_raising() || is_among(never, why.reason))
    return;
  std::vector<const Frame*> frames = walk_.frames_before();
  if (!walk_.running.frame.in_library && is_call(walk_.running.frame, walk_.running.frame.next) &&
      is_among(of_calls, why.reason))
    plan(frames, why);
  if (!walk_.running.frame.in_library) plan_manager(frames, why);
  if (!walk_.running.frame.in_library && is_only_call(walk_.running.frame, walk_.running.frame.next)) plan(frames, why);
  while (frames.size() > 1) {
    bool library = frames.back()->in_library;
    if (frames.back()->forks_before != walk_.forks) return;  // it fails on some paths only
    frames.pop_back();
    const Frame& caller = *frames.back();
    if (caller.in_library || caller.next == 0 || !is_call(caller, caller.next - 1)) continue;
    if (calls_enter(caller)) plan_manager(frames, why);
    Frame at_call = caller;
    --at_call.next;
    frames.back() = &at_call;
    if (library || is_in_loop(frames)) plan(frames, why);
    frames.back() = &caller;
  }
}

// The with statement cannot enter a context manager that the captured code has made. If a call in the statement makes it, the
// process makes that call, because the resulting object may be of any type.
void CallSites::plan_manager(std::vector<const Frame*> frames, const Failure& why) {
  Frame at_call = *frames.back();
  const int call = call_of_manager(at_call.bytecode(), calls_enter(at_call) ? at_call.next - 1 : at_call.next);
  if (call < 0) return;
  at_call.next = call;
  const bool is_made = !at_call.stack.empty() && at_call.stack.back()->kind == AbstractKind::instance;
  if (!is_call(at_call, at_call.next) || !is_made) return;
  frames.back() = &at_call;
  plan(frames, why);
}

// Plans that the process makes the call before which these frames are, unless that has been tried.
void CallSites::plan(const std::vector<const Frame*>& frames, const Failure& why) {
  auto [site, fresh] = speculation_.control.calls.try_emplace(place_of(frames), PlannedCall{why});
  if (!fresh && !site->second.possible) return;
  if (!fresh) site->second.possible = false;
  speculation_.forget_numbering();
  throw Restart{};
}

// A container of the caller that is passed to the call may be mutated by it: the next attempt does not resolve its items in
// advance.
void CallSites::hand_over(const Ref& value) {
  PyObject* object = value->object.get();
  bool is_lazy = value->kind == AbstractKind::lazy && (PyList_CheckExact(object) || PyDict_CheckExact(object));
  bool known = value->source >= 0 && (value->kind == AbstractKind::list || value->kind == AbstractKind::dict);
  if (!is_lazy && !known) return;
  if (!speculation_.objects.opaque.insert(capture_.sources().text(value->source)).second || is_lazy) return;
  speculation_.forget_numbering();
  throw Restart{};
}

bool CallSites::is_ignored() const {
  const Frame& frame = *walk_.frames.back();
  return frame.bytecode().instructions[static_cast<size_t>(frame.next)].op == Opcode::pop_top;
}

// What a report appends to the name of a call: why it is not captured.
static std::string why_boxed(const Failure& why) {
  return why.reason == Reason::unsupported_call || why.detail.empty() ? "" : " (" + why.detail + ")";
}

Result<Ref> CallSites::make(const Ref& callable, const CallArguments& arguments) {
  if (walk_.speculative) return fail(Reason::unsupported_call, "a call of the interpreter");
  const PathState state = walk_.save(capture_);
  if (std::any_of(state.keep_storages.begin(), state.keep_storages.end(), [](const auto& storage) { return storage->held; }))
    return fail(Reason::unsupported_value, "a call while a list has arrays with other names");
  if (!capture_.events().errstate_tokens().empty()) return fail(Reason::unsupported_call, "a call under numpy.errstate");
  for (const auto& frame : walk_.frames) {
    if (frame->generator || frame->nested || frame->before_call) return fail(Reason::generator, "a call in a generator");
  }
  if (std::any_of(state.keep_objects.begin(), state.keep_objects.end(), depends_on_options))
    return fail(Reason::unsupported_value, "a call while a text waits that print options change");
  interpreter_.calls().guard_called(callable);
  if (callable->object && looks_at_caller(callable->object.get()))
    return fail(Reason::unsupported_call,
                short_repr(callable->object.get()) + " asks for its caller's frame or counts references");
  std::vector<Ref> given = arguments.positional;
  for (const auto& argument : arguments.keywords) given.push_back(argument.second);
  for (const Ref& argument : given) {
    ACCEL_TRY([[maybe_unused]] Unit gathered, materialise_deep(capture_, argument));
  }
  for (const Ref& argument : given) hand_over(argument);
  ACCEL_TRY([[maybe_unused]] Unit shown, capture_.changes().show());
  BoxedCall call;
  auto site = std::make_shared<PythonCall>();
  site->place = place_of(walk_.frames_before());
  site->where = interpreter_.exits().where(walk_.frames_before());
  site->name = callable->object ? short_repr(callable->object.get()) : "an object";
  RecipeWriter writer(capture_);
  call.keywords = names_of(arguments);
  // The objects that the call may return.
  std::vector<Ref> candidates = given;
  if (callable->kind == AbstractKind::method) candidates.push_back(callable->items[1]);
  ACCEL_TRY([[maybe_unused]] Unit assumed, assume_result(*site, call, candidates.size()));
  ACCEL_TRY([[maybe_unused]] Unit written, write_site(*site, writer, callable, given));
  for (const Ref& candidate : candidates) site->candidates.push_back(writer.written(candidate));
  ACCEL_TRY([[maybe_unused]] Unit shared, find_shared(*site));
  interpreter_.exits().add_dead_names(writer, walk_.live_frames(), site->frames);
  find_borrowed_slots(walk_.live_frames(), true, site->frames);
  site->borrowed = borrowed_arguments(*walk_.frames_before().back(), site->arguments, site->frames.back());
  ValueId made = add_call(*site, writer, call);
  Ref result = site->result == ResultKind::argument ? candidates[static_cast<size_t>(site->argument)]
                                                    : result_of_call(*site, made, call).value();
  capture_.note(Reason::boxed_call, site->name + why_boxed(speculation_.control.calls.at(site->place).why));
  call.python = std::move(site);
  capture_.calls().push_back(std::move(call));
  return result;
}

// Writes the recipes of the frames, the callable and its arguments.
Status CallSites::write_site(PythonCall& site, RecipeWriter& writer, const Ref& callable, const std::vector<Ref>& given) {
  ACCEL_TRY(site.frames, interpreter_.exits().write_frames(writer, walk_.live_frames(), true));
  for (const FrameRecipe& frame : site.frames) {
    if (frame.return_offset < 0) return fail(Reason::unsupported_call, "a call in a function that does not return");
  }
  ACCEL_TRY(site.callable, writer.write(callable));
  for (const Ref& argument : given) {
    ACCEL_TRY(RecipeId id, writer.write(argument));
    site.arguments.push_back(id);
  }
  ACCEL_TRY([[maybe_unused]] Unit stored, writer.write_stores());
  site.stores = writer.take_stores();
  site.symbols = writer.write_symbols();
  for (const auto& [value, id] : writer.made_objects()) site.shown.push_back(id);
  for (const auto& [id, storage] : writer.fresh_memory()) site.shown.push_back(id);
  site.recipes = writer.recipes();
  return Unit{};
}

// Assumes that the result is of the kind that earlier runs have observed. Another version of the function may have called
// something else there, with more candidates.
Status CallSites::assume_result(PythonCall& site, BoxedCall& call, size_t candidates) const {
  if (is_ignored()) site.result = ResultKind::ignored;
  if (is_ignored() || speculation_.given.seen_results == nullptr) return Unit{};
  auto seen = speculation_.given.seen_results->find(site.place);
  if (seen == speculation_.given.seen_results->end()) return Unit{};
  if (seen->second.kind == ResultKind::argument && static_cast<size_t>(seen->second.argument) >= candidates) return Unit{};
  site.result = seen->second.kind;
  if (site.result == ResultKind::unknown) return fail(Reason::unsupported_value, "what the call gives");
  site.argument = seen->second.argument;
  site.object_type = seen->second.object_type;
  const bool is_value = site.result == ResultKind::number || site.result == ResultKind::array;
  if (is_value) call.results.push_back(seen->second.type);
  return Unit{};
}

// Adds the call to the graph, and reloads the memory that it may have changed.
ValueId CallSites::add_call(const PythonCall& site, const RecipeWriter& writer, BoxedCall& call) {
  const bool is_numbered = site.result == ResultKind::number || site.result == ResultKind::object;
  const size_t numbered = site.shown.size() + is_numbered;
  for (ValueId value : writer.outputs()) call.operands.push_back(capture_.graph().type(value));
  std::vector<Type> changed;
  for (RecipeId id : site.changed) changed.push_back(capture_.graph().type(writer.fresh_memory().at(id)->current));
  call.results.insert(call.results.begin(), changed.begin(), changed.end());
  call.results.insert(call.results.begin(), numbered, identity_type);
  capture_.note_effect(true);
  Builder& build = capture_.build();
  ValueId made = build.python_call(static_cast<int>(capture_.calls().size()), writer.outputs());
  capture_.memory().reload();
  for (size_t k = 0; k < changed.size(); ++k) {
    Storage& storage = *writer.fresh_memory().at(site.changed[k]);
    storage.current = build.received(made, static_cast<int>(numbered + k), changed[k]);
    ++storage.version;
  }
  number_objects(site, writer, made);
  return made;
}

// The run's number of an object that the call has received or returned.
Ref CallSites::received_identity(ValueId made, size_t result) {
  return capture_.values().scalar(capture_.build().received(made, static_cast<int>(result), identity_type));
}

// Gives an identity to the objects of the captured code that the call has received.
void CallSites::number_objects(const PythonCall& site, const RecipeWriter& writer, ValueId made) {
  const std::vector<std::pair<Ref, RecipeId>> objects = writer.made_objects();
  for (size_t k = 0; k < site.shown.size(); ++k) {
    const RecipeId id = site.shown[k];
    Ref identity = received_identity(made, k);
    if (auto memory = writer.fresh_memory().find(id); memory != writer.fresh_memory().end()) {
      memory->second->identity = std::move(identity);
      continue;
    }
    for (const auto& [value, written] : objects)
      if (written == id) value->identity = identity;
  }
}

Result<Ref> CallSites::result_of_call(const PythonCall& site, ValueId made, BoxedCall& call) {
  Builder& build = capture_.build();
  if (site.result == ResultKind::ignored || site.result == ResultKind::none) return capture_.values().constant(Py_None);
  if (site.result == ResultKind::unknown) {
    Exit exit;
    exit.kind = ExitKind::resume;
    exit.is_check = exit.is_behind_call = true;
    exit.reason = Reason::assumption_failed;
    exit.detail = "what the call gives is not known yet";
    exit.where = site.where;
    RecipeWriter nothing(capture_);
    interpreter_.exits().end_block(nothing, std::move(exit));
    walk_.running.outcome = PathOutcome::ended;
    return interpreter_.null();
  }
  if (site.result == ResultKind::object) {
    Ref given = make_text({}, {});
    if (site.object_type.get() != reinterpret_cast<PyObject*>(&PyUnicode_Type)) {
      given->kind = AbstractKind::opaque;
      given->object = site.object_type;
    }
    given->identity = received_identity(made, site.shown.size());
    return given;
  }
  int number = static_cast<int>(call.results.size()) - 1;
  Type type = call.results.back();
  if (site.result == ResultKind::number) {
    Ref result = capture_.values().scalar(build.received(made, number, type));
    result->identity = received_identity(made, site.shown.size());
    result->is_one_of_several = true;
    return result;
  }
  int axis = 0;
  for (Dim& extent : type.shape) {
    ValueId value = build.extent(made, number, axis++);
    extent = capture_.facts().bind_dim(value, "extent", 1, 0, most_elements);
  }
  return capture_.values().fresh_array(build.received(made, number, type));
}

}  // namespace accel
