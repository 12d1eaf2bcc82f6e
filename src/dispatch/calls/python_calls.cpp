#include "dispatch/calls/python_calls.h"

#include <algorithm>
#include <cstddef>
#include <memory_resource>

#include "capture/context/context.h"
#include "cpython/function.h"
#include "cpython/weak_references.h"
#include "dispatch/exits/python_objects.h"
#include "dispatch/exits/resume.h"
#include "dispatch/signals/interrupt.h"
#include "guard/fetch.h"
#include "guard/memory_order.h"
#include "ndarray/array.h"

namespace accel {

// How many have an object, and how an array lies in memory.
struct PythonCalls::Look {
  Py_ssize_t holders = 0;
  bool has_weak_references = false;
  const void *descr = nullptr, *data = nullptr;
  std::vector<intptr_t> layout;
  bool writeable = false;
  bool operator==(const Look&) const = default;

  explicit Look(PyObject* object) : holders(Py_REFCNT(object)) {
    if (!is_exact_array(object)) return;
    has_weak_references = has_weak_reference(object);
    ArrayFacts facts = array_facts(object);
    descr = facts.descr, data = facts.data, writeable = facts.writeable;
    layout.assign(facts.dims, facts.dims + facts.ndim);
    layout.insert(layout.end(), facts.strides, facts.strides + facts.ndim);
  }
};

namespace {

// Whether `object` is an array of this type that nobody else has: what it holds may be copied.
bool is_array_of(PyObject* object, const Type& type) {
  if (!is_exact_array(object) || Py_REFCNT(object) != 1 || has_weak_reference(object)) return false;
  ArrayFacts facts = array_facts(object);
  return facts.dtype == type.dtype && facts.ndim == type.rank() && facts.owns_data && facts.writeable &&
         is_gapless(facts.ndim, facts.dims, facts.strides, type.axis_order().data(), item_size(type.dtype));
}

bool is_number_of(PyObject* object, const Type& type) {
  uint64_t bits[2] = {0, 0};
  bool python = type.kind == ValueKind::py_scalar;
  bool known = python ? Py_IS_TYPE(object, python_type_of(type.dtype)) : dtype_of_scalar(object) == type.dtype;
  return known && read_scalar(object, type.dtype, bits);
}

// The objects of the frames that the run knows by number.
NamedObjects named_objects(const PythonCall& call, const Outputs& outputs, PyObject* const* objects) {
  NamedObjects named;
  for (RecipeId id : call.named) {
    const Recipe& recipe = call.recipes[static_cast<size_t>(id)];
    const int64_t number = *static_cast<const int64_t*>(outputs.data[recipe.index]);
    PyObject* object = objects[static_cast<size_t>(id)];
    if (number >= 0 && object != nullptr) named.emplace_back(number, object);
  }
  return named;
}

// Small integers and truth values are singletons: their identity says nothing.
bool has_own_identity(PyObject* object) { return object != Py_None && !PyLong_Check(object); }

SeenResult seen_result_of(PyObject* object) {
  SeenResult seen;
  if (object == Py_None) {
    seen.kind = ResultKind::none;
    return seen;
  }
  if (is_exact_array(object)) {
    ArrayFacts facts = array_facts(object);
    if (!is_supported(facts)) return seen;
    std::vector<uint8_t> order(static_cast<size_t>(facts.ndim));
    if (!dense_order(facts.ndim, facts.dims, facts.strides, item_size(*facts.dtype), order.data())) {
      memory_order(facts.ndim, facts.dims, facts.strides, order.data());
      if (facts.c_contiguous) order.clear();
    }
    if (std::is_sorted(order.begin(), order.end())) order.clear();
    seen.type = {ValueKind::array, *facts.dtype, std::vector<Dim>(static_cast<size_t>(facts.ndim)), order};
    if (is_array_of(object, seen.type)) seen.kind = ResultKind::array;
    return seen;
  }
  for (DType dtype : {DType::bool_, DType::int64, DType::float64, DType::complex128}) {
    Type type{ValueKind::py_scalar, dtype, {}, {}};
    if (is_number_of(object, type)) return {ResultKind::number, type};
  }
  std::optional<DType> dtype = is_numpy_scalar(object) ? dtype_of_scalar(object) : std::nullopt;
  if (dtype) return {ResultKind::number, {ValueKind::numpy_scalar, *dtype, {}, {}}};
  seen.kind = ResultKind::object;
  seen.object_type = PyRef::borrow(reinterpret_cast<PyObject*>(Py_TYPE(object)));
  return seen;
}

}  // namespace

std::vector<std::unique_ptr<PythonCallPlan>> python_call_plans(const Captured& captured) {
  std::vector<std::unique_ptr<PythonCallPlan>> plans;
  for (const BoxedCall& call : captured.calls) {
    auto plan = call.python ? std::make_unique<PythonCallPlan>() : nullptr;
    if (plan) {
      plan->operands = OutputPlan(call.operands, captured.graph.dims, call.python->recipes);
      plan->materialiser = Materialiser(*call.python, captured.graph.dims, plan->operands);
    }
    plans.push_back(std::move(plan));
  }
  return plans;
}

PythonCalls::PythonCalls(const CheckedRun& run) : run_(run), modes_(event_modes()) { hold_sources(); }

void PythonCalls::hold_sources() {
  for (SourceId source : run_.captured->guards.wanted) held_.push_back(PyRef::borrow(run_.binding.sources[source]));
}

PythonCalls::~PythonCalls() {
  Py_XDECREF(answer_);
  for (PyObject* part : exception_) Py_XDECREF(part);
}

PyObject* PythonCalls::take_answer() {
  auto part = [&](int k) { return std::exchange(exception_[k], nullptr); };
  if (answer_ == nullptr) PyErr_Restore(part(0), part(1), part(2));
  return std::exchange(answer_, nullptr);
}

PythonCalls::Made PythonCalls::call(int number, const std::vector<CallOperandValue>& operands) {
  call_ = &run_.captured->calls[static_cast<size_t>(number)];
  plan_ = (*run_.plans)[static_cast<size_t>(number)].get();
  size_t count = static_cast<size_t>(plan_->operands.count());
  std::byte room[512];
  std::pmr::monotonic_buffer_resource memory(room, sizeof room);
  std::pmr::vector<PyObject*> arrays(count, &memory);
  std::pmr::vector<void*> data(count, &memory);
  std::pmr::vector<int64_t> numbers(2 * count, &memory);
  Outputs outputs{arrays.data(), data.data(), numbers.data()};
  plan_->operands.prepare(outputs);
  objects_.assign(call_->python->recipes.size(), nullptr);
  bool made =
      make_operands(*plan_, operands, outputs) && plan_->materialiser.make(run_.binding, outputs, objects_.data(), &shown_);
  named_ = made ? named_objects(*call_->python, outputs, objects_.data()) : NamedObjects();
  plan_->operands.release(outputs);
  if (!made) return Made::failed;
  std::vector<FrameState> frames = frames_of(call_->python->frames, objects_.data());
  FramedCall framed{act, this, release_all, false, AfterCall::go_on, {}, nullptr};
  framed_ = &framed;
  PyObject* answer = call_under_frames(frames, framed);
  framed_ = nullptr;
  if (!framed.was_made) {
    release_objects();
    return Made::failed;
  }
  last_ = number;
  count_++;
  if (framed.after != AfterCall::go_on) {
    if (framed.after == AfterCall::leave && detail_.empty()) detail_ = "somebody holds the frame";
    left_ = true;
    answer_ = answer;
    if (answer == nullptr) PyErr_Fetch(&exception_[0], &exception_[1], &exception_[2]);
    return Made::left;
  }
  take_results(framed.result.get());
  kept_.clear();
  frames.back().stack.push_back(std::move(framed.result));
  frames_ = std::move(frames);
  return Made::done;
}

// In the order of the op's results.
void PythonCalls::take_results(PyObject* result) {
  const PythonCall& call = *call_->python;
  hold_sources();
  for (const auto& [number, object] : named_) shown_.emplace(number, PyRef::borrow(object));
  auto number = [&](PyObject* object) {
    shown_.emplace(next_shown_, PyRef::borrow(object));
    results_.push_back(PyRef::steal(PyLong_FromLongLong(next_shown_++)));
  };
  for (RecipeId id : call.shown) number(seen_[static_cast<size_t>(id)]);
  if (call.result == ResultKind::number || call.result == ResultKind::object) number(result);
  for (RecipeId id : call.changed) results_.push_back(PyRef::borrow(seen_[static_cast<size_t>(id)]));
  results_.push_back(PyRef::borrow(result));
}

void PythonCalls::release() {
  frames_.clear();
  results_.clear();
  shown_.clear();
  held_.clear();
  forget();
}

void PythonCalls::forget() {
  replaced_.clear();
  kept_.clear();
}

void PythonCalls::release_objects() { plan_->materialiser.release(objects_.data()); }

bool PythonCalls::make_operands(const PythonCallPlan& plan, const std::vector<CallOperandValue>& operands, Outputs& outputs) {
  for (int k = 0; k < plan.operands.count(); k++) {
    const CallOperandValue& given = operands[static_cast<size_t>(k)];
    const Type& type = call_->operands[static_cast<size_t>(k)];
    size_t rank = static_cast<size_t>(type.rank());
    if (plan.operands.is_array(k)) {
      std::span<const int64_t> dims{given.dims, rank}, strides{given.strides, rank};
      PyRef from = given.object != nullptr ? PyRef::borrow(given.object)
                                           : PyRef::steal(new_array_over(type.dtype, dims, strides, given.memory));
      if (!from) return false;
      const ArrayFacts facts = array_facts(from.get());
      std::vector<int64_t> shape(facts.dims, facts.dims + facts.ndim);
      if (plan.operands.allocate(k, shape.data(), outputs) == nullptr) return false;
      if (!copy_elements(outputs.arrays[k], from.get())) return false;
    } else if (given.object == nullptr) {
      std::copy_n(static_cast<const char*>(given.memory), item_size(type.dtype),
                  reinterpret_cast<char*>(outputs.numbers + 2 * k));
    } else {
      uint64_t bits[2] = {0, 0};
      PyRef number = PyRef::borrow(given.object);
      if (is_exact_array(given.object)) number = PyRef::steal(PyObject_CallMethod(given.object, "__getitem__", "()"));
      if (!number || !read_scalar(number.get(), type.dtype, bits)) return false;
      outputs.numbers[2 * k] = static_cast<int64_t>(bits[0]), outputs.numbers[2 * k + 1] = static_cast<int64_t>(bits[1]);
    }
  }
  for (const BoundSymbol& bound : call_->python->symbols)
    run_.binding.symbols[bound.symbol] = outputs.numbers[2 * bound.output];
  return true;
}

// The frames go on by themselves: nothing is gone back to.
void PythonCalls::release_all(void* self) { static_cast<PythonCalls*>(self)->release(); }

AfterCall PythonCalls::act(void* self, PyObject** result) { return static_cast<PythonCalls*>(self)->make(result); }

// Frames that go on own all that is alive.
AfterCall PythonCalls::leave(Reason reason, std::string detail) {
  forget();
  reason_ = reason;
  detail_ = std::move(detail);
  return AfterCall::leave;
}

namespace {

// What an attribute or item of an object is; borrowed, null when there is none.
PyObject* stored(StoreRecipe::Kind kind, PyObject* object, PyObject* name) {
  if (kind == StoreRecipe::Kind::attribute) return fetch_attribute(object, name);
  return PyList_CheckExact(object) ? fetch_item(object, PyLong_AsLongLong(name)) : fetch_dict_item(object, name);
}

}  // namespace

bool PythonCalls::make_stores() {
  note_replaced(call_->python->stores, objects_.data(), replaced_);
  return perform(call_->python->stores, objects_.data());
}

// What the guards speak of is what was there before the first store of the run.
void note_replaced(const std::vector<StoreRecipe>& stores, PyObject* const* objects, std::vector<Replaced>& replaced) {
  for (const StoreRecipe& store : stores) {
    PyObject *object = objects[static_cast<size_t>(store.object)], *name = objects[static_cast<size_t>(store.name)];
    auto known = std::find_if(replaced.begin(), replaced.end(),
                              [&](const Replaced& each) { return each.object.get() == object && each.name.get() == name; });
    if (known == replaced.end()) {
      PyRef before = PyRef::borrow(stored(store.kind, object, name));
      known = replaced.insert(known, {PyRef::borrow(object), PyRef::borrow(name), {}, std::move(before)});
    }
    known->now = PyRef::borrow(objects[static_cast<size_t>(store.value)]);
  }
}

void put_back(const std::vector<Replaced>& replaced) {
  const SavedException current;
  for (const Replaced& each : replaced) {
    PyObject *object = each.object.get(), *name = each.name.get(), *before = each.before.get();
    int status = 0;
    if (PyList_CheckExact(object))
      status = PyList_SetItem(object, PyLong_AsSsize_t(name), Py_XNewRef(before));
    else if (PyDict_CheckExact(object))
      status = before != nullptr ? PyDict_SetItem(object, name, before) : PyDict_DelItem(object, name);
    else
      status = PyObject_SetAttr(object, name, before);
    if (status < 0) PyErr_WriteUnraisable(object);
  }
}

bool PythonCalls::are_stores_there() const {
  return std::all_of(call_->python->stores.begin(), call_->python->stores.end(), [&](const StoreRecipe& store) {
    PyObject *object = seen_[static_cast<size_t>(store.object)], *name = seen_[static_cast<size_t>(store.name)];
    return stored(store.kind, object, name) == seen_[static_cast<size_t>(store.value)];
  });
}

// From here on the frames alone have what they name, and the call has its arguments, as in the interpreter.
PythonCalls::Given PythonCalls::give() {
  const PythonCall& call = *call_->python;
  Given given;
  auto take = [&](RecipeId id) { return PyRef::borrow(objects_[static_cast<size_t>(id)]); };
  given.callable = take(call.callable);
  for (RecipeId id : call.arguments) given.arguments.push_back(take(id));
  for (const StoreRecipe& store : call.stores) {
    given.stored.push_back(take(store.object));
    given.stored.push_back(take(store.name));
    given.stored.push_back(take(store.value));
  }
  seen_ = objects_;
  frames_.clear();
  results_.clear();
  shown_.clear();
  held_.clear();
  keep_alone();
  return given;
}

// What is asked about after the call and would be freed with objects_, such as an array that NumPy has copied. An object that
// somebody else holds gets no further reference: the callee could count it.
void PythonCalls::keep_alone() {
  const PythonCall& call = *call_->python;
  auto keep = [&](PyObject* object) {
    if (object != nullptr) kept_.push_back(PyRef::borrow(object));
  };
  for (const std::vector<RecipeId>* ids : {&call.watched, &call.shown, &call.candidates})
    for (RecipeId id : *ids) keep(id >= 0 ? seen_[static_cast<size_t>(id)] : nullptr);
  for (const auto& [number, object] : named_) keep(object);
  release_objects();
  for (PyRef& each : kept_) {
    const auto own = std::count_if(kept_.begin(), kept_.end(), [&](const PyRef& other) { return other.get() == each.get(); });
    if (Py_REFCNT(each.get()) > own) each = PyRef();
  }
  // Parts of a text or tuple are no variables: the callee may drop the last reference to one.
  for (RecipeId id : call.derived) keep(seen_[static_cast<size_t>(id)]);
}

// Keeps what the op's results name: its only owner may be an argument, which is released when the call has been made.
void PythonCalls::keep_results() {
  const PythonCall& call = *call_->python;
  for (const std::vector<RecipeId>* ids : {&call.shown, &call.changed})
    for (RecipeId id : *ids) kept_.push_back(PyRef::borrow(seen_[static_cast<size_t>(id)]));
}

AfterCall PythonCalls::make(PyObject** result) {
  const PythonCall& call = *call_->python;
  const bool has_stored = make_stores();
  Given given = give();
  if (!has_stored) {
    *result = nullptr;
    forget();
    reason_ = Reason::will_raise;
    detail_ = "a store before the call raised";
    return AfterCall::raise;
  }
  std::vector<Look> looks;
  for (RecipeId id : call.watched) looks.emplace_back(seen_[static_cast<size_t>(id)]);
  std::vector<PyObject*> arguments;
  for (const PyRef& argument : given.arguments) arguments.push_back(argument.get());
  size_t named = call_->keywords ? static_cast<size_t>(PyTuple_GET_SIZE(call_->keywords.get())) : 0;
  *result = PyObject_Vectorcall(given.callable.get(), arguments.data(), arguments.size() - named, call_->keywords.get());
  if (*result == nullptr) {
    forget();
    reason_ = Reason::will_raise;
    detail_ = "the call raised";
    return AfterCall::raise;
  }
  // Nobody sees what: the next instruction drops it.
  if (call.result == ResultKind::ignored) Py_SETREF(*result, Py_NewRef(Py_None));
  const AfterCall after = judge(*result, looks);
  if (after == AfterCall::go_on) keep_results();
  return after;
}

AfterCall PythonCalls::judge(PyObject* result, const std::vector<Look>& looks) {
  const PythonCall& call = *call_->python;
  // Objects may be gone that are no variables any more.
  if (!frames_are_untouched(*framed_)) return leave(Reason::assumption_failed, "somebody holds the frame");
  const bool as_assumed = is_as_assumed(result);
  for (size_t k = 0; k < looks.size(); k++) {
    PyObject* object = seen_[static_cast<size_t>(call.watched[k])];
    Look now(object);
    now.holders -= object == result;
    if (looks[k] == now) continue;
    return leave(Reason::assumption_failed, "the callee keeps an argument, or has changed its layout");
  }
  if (!are_stores_there() || !still_holds()) return leave(Reason::assumption_failed, "the call changed what was assumed");
  if (!as_assumed) return leave(Reason::assumption_failed, "the call gave an object of another type");
  return AfterCall::go_on;
}

bool PythonCalls::is_as_assumed(PyObject* result) {
  const PythonCall& call = *call_->python;
  switch (call.result) {
    case ResultKind::unknown:
      break;
    case ResultKind::ignored:
      return true;
    case ResultKind::none:
      if (result == Py_None) return true;
      break;
    case ResultKind::argument:
      if (result == candidate(call.argument)) return true;
      break;
    case ResultKind::number:
      if (is_number_of(result, call_->results.back())) return true;
      break;
    case ResultKind::array:
      if (is_array_of(result, call_->results.back())) return true;
      break;
    case ResultKind::object:
      if (Py_IS_TYPE(result, reinterpret_cast<PyTypeObject*>(call.object_type.get()))) return true;
      break;
  }
  unknown_ = seen_result_of(result);
  for (int k = 0; has_own_identity(result) && k < static_cast<int>(call.candidates.size()); ++k)
    if (result == candidate(k)) unknown_ = {ResultKind::argument, {}, k};
  return false;
}

PyObject* PythonCalls::candidate(int number) const {
  const RecipeId id = call_->python->candidates[static_cast<size_t>(number)];
  return id >= 0 ? seen_[static_cast<size_t>(id)] : nullptr;
}

// What the run was checked for at its start is as it was: the same objects, sizes, memory and numbers.
bool PythonCalls::still_holds() {
  for (const FrameRecipe& frame : call_->python->frames) {
    if (is_watched(reinterpret_cast<PyCodeObject*>(frame.code.get()))) return false;
  }
  EventModes modes = event_modes();
  if (modes.ignored != modes_.ignored || modes.warned != modes_.warned) return false;
  return holds_as_checked(run_, &replaced_);
}

bool holds_as_checked(const CheckedRun& run, const std::vector<Replaced>* replaced) {
  const GuardSet& guards = run.captured->guards;
  const Binding& then = run.binding;
  size_t symbol_count = std::max(static_cast<size_t>(guards.symbol_count), run.captured->graph.symbols.size());
  std::byte room[1024];
  std::pmr::monotonic_buffer_resource memory(room, sizeof room);
  std::pmr::vector<int64_t> symbols(then.symbols, then.symbols + symbol_count, &memory);
  std::pmr::vector<void*> inputs(static_cast<size_t>(guards.input_count) + 1, &memory);
  std::pmr::vector<PyObject*> sources(then.sources, then.sources + guards.sources.size(), &memory);
  Binding now{symbols.data(), inputs.data(), sources.data(), replaced};
  if (!guards.check(run.function, run.locals, now)) return false;
  return std::equal(symbols.begin(), symbols.end(), then.symbols) &&
         std::equal(inputs.begin(), inputs.end() - 1, then.inputs) &&
         std::all_of(guards.wanted.begin(), guards.wanted.end(),
                     [&](SourceId source) { return sources[static_cast<size_t>(source)] == then.sources[source]; });
}

PyObject* PythonCalls::go_back(bool raise) {
  std::vector<FrameState> frames = std::move(frames_);
  release();
  return resume_frames(std::move(frames), raise);
}

}  // namespace accel
