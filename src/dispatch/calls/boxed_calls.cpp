#include "dispatch/calls/boxed_calls.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

#include "capture/product/rng_functions.h"
#include "dispatch/calls/observed_results.h"
#include "dispatch/events/errstate.h"
#include "dispatch/reports/python_errors.h"
#include "guard/memory_order.h"
#include "ndarray/array.h"
#include "ndarray/random.h"

namespace accel {
namespace {

// Whether `object` is an array of the type and memory order that capture assumed.
bool is_of_type(PyObject* object, const Type& type) {
  if (!is_exact_array(object)) return false;
  static constexpr auto c_order = [] {
    std::array<uint8_t, max_rank> order{};
    for (size_t k = 0; k < order.size(); ++k) order[k] = static_cast<uint8_t>(k);
    return order;
  }();
  const ArrayFacts facts = array_facts(object);
  if (facts.dtype != type.dtype || facts.ndim != type.rank()) return false;
  const uint8_t* order = type.order.empty() ? c_order.data() : type.order.data();
  return is_gapless(facts.ndim, facts.dims, facts.strides, order, item_size(type.dtype));
}

int64_t element_count(const ArrayLayout& layout) {
  return std::accumulate(layout.dims, layout.dims + layout.ndim, int64_t{1}, std::multiplies<>());
}

// The results of a call including the operand that it changes, if that counts as one. Null stays null.
PyRef with_changed(const BoxedCall& call, PyRef answer, const BoxedCalls::Objects& operands) {
  if (!answer || call.changed < 0) return answer;
  const PyRef& changed = operands[static_cast<size_t>(call.changed)];
  if (call.drops_answer) return changed;
  if (call.results.size() == 2) return PyRef::steal(PyTuple_Pack(2, changed.get(), answer.get()));
  PyRef first = PyRef::steal(PyTuple_Pack(1, changed.get()));
  return PyRef::steal(first ? PySequence_Concat(first.get(), answer.get()) : nullptr);
}

// A copy in the memory order of the type. NumPy's own copies may choose another order for axes of extent 1.
PyRef copy_in_order(PyObject* array, const Type& type) {
  const ArrayFacts facts = array_facts(array);
  PyRef copy = PyRef::steal(new_array(type.dtype, {facts.dims, static_cast<size_t>(facts.ndim)}, type.order));
  return copy && copy_elements(copy.get(), array) ? std::move(copy) : PyRef();
}

PyObject* interned(const char* name) { return PyUnicode_InternFromString(name); }

}  // namespace

BoxedCalls::BoxedCalls(const CheckedRun& run, std::span<const SourceId> arrays, std::span<AccelDraw> draws)
    : calls_(run.captured->calls), sources_(run.binding.sources), inputs_(run.binding.inputs), arrays_(arrays), draws_(draws) {
  if (std::any_of(calls_.begin(), calls_.end(), [](const BoxedCall& call) { return call.python != nullptr; }))
    python_.emplace(run);
}

// --- the call -------------------------------------------------------------------------------------------------------

int BoxedCalls::call(int number, const void* const* operands, const int64_t* dims) {
  const BoxedCall& call = calls_[static_cast<size_t>(number)];
  release_locks();  // the callable may wait for a thread that needs one of these locks
  if (call.python) return call_python(number, operands, dims);
  if (call.generator >= 0 && use(call) == nullptr) return failed();
  int axes =
      std::accumulate(call.operands.begin(), call.operands.end(), 0, [](int sum, const Type& t) { return sum + t.rank(); });
  objects_.clear();
  objects_.reserve(call.operands.size());
  for (size_t k = 0; k < call.operands.size(); k++) {
    const Type& type = call.operands[k];
    PyRef object = operand(type, operands[k], dims, dims + axes);
    if (object && call.changed == static_cast<int>(k)) object = copy_in_order(object.get(), call.operands[k]);
    if (!object) return failed();
    objects_.push_back(std::move(object));
    dims += type.rank();
  }
  PyRef answer = with_changed(call, invoke(call, objects_), objects_);
  bool taken = answer && take(number, answer.get());
  objects_.clear();
  return taken ? 0 : failed();
}

// Drops results of earlier calls of unknown code, which the kernel has received by now.
void BoxedCalls::forget_given() {
  for (size_t k = 0; k < calls_.size() && !given_.empty(); ++k)
    for (size_t result = 0; calls_[k].python && result < calls_[k].results.size(); ++result)
      given(static_cast<int>(k))[result].object = PyRef();
}

BoxedCalls::Given* BoxedCalls::given(int number) {
  if (first_given_.empty()) {
    first_given_.reserve(calls_.size());
    uint32_t count = 0;
    for (const BoxedCall& call : calls_) {
      first_given_.push_back(count);
      count += static_cast<uint32_t>(call.results.size());
    }
    given_.resize(count);
  }
  return given_.data() + first_given_[static_cast<size_t>(number)];
}

void BoxedCalls::release_objects() {
  given_.clear();
  first_given_.clear();
  if (python_) python_->release();
}

int BoxedCalls::call_python(int number, const void* const* operands, const int64_t* dims) {
  forget_given();
  const BoxedCall& call = calls_[static_cast<size_t>(number)];
  const int64_t* strides = dims;
  for (const Type& type : call.operands) strides += type.rank();
  std::vector<CallOperandValue> values;
  for (size_t k = 0; k < call.operands.size(); k++) {
    values.push_back({operands[k], dims, strides, nullptr});
    dims += call.operands[k].rank();
    strides += call.operands[k].rank();
  }
  return made_python(number, python_->call(number, values));
}

// A call of unknown code could not be made (out of memory): stores before it remain, so the run cannot be repeated and ends
// with the exception.
int BoxedCalls::not_made() {
  cannot_go_on_ = true;
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "accel: what a call gets could not be made");
  return failed();
}

// After a call of unknown code was made, draws before it are not undone any more.
int BoxedCalls::made_python(int number, PythonCalls::Made made) {
  if (made == PythonCalls::Made::failed) return not_made();
  used_.clear();
  if (made == PythonCalls::Made::left) return accel_left;
  Given* kept = given(number);
  const std::vector<Type>& types = calls_[static_cast<size_t>(number)].results;
  for (size_t k = 0; k < types.size(); k++) {
    kept[k].object = python_->results()[k];
    if (types[k].kind != ValueKind::array) read_scalar(kept[k].object.get(), types[k].dtype, kept[k].bits);
  }
  return 0;
}

PyObject* BoxedCalls::call_with_objects(int number, PyObject* const* operands) {
  PyObject* results = results_with_objects(number, operands);
  has_failed_ = results == nullptr && !has_left();
  return results;
}

PyObject* BoxedCalls::results_with_objects(int number, PyObject* const* operands) {
  const BoxedCall& call = calls_[static_cast<size_t>(number)];
  if (call.python) return call_python_with_objects(number, operands);
  if (call.generator >= 0 && use(call) == nullptr) return nullptr;
  Objects objects;
  for (size_t k = 0; k < call.operands.size(); k++) {
    bool changed = call.changed == static_cast<int>(k);
    objects.push_back(changed ? copy_in_order(operands[k], call.operands[k]) : PyRef::borrow(operands[k]));
    if (!objects.back()) return nullptr;
  }
  PyRef answer = with_changed(call, invoke(call, objects), objects);
  if (!answer || !take(number, answer.get())) return nullptr;
  return call.gives_tuple ? answer.release() : PyTuple_Pack(1, answer.get());
}

// Null without an exception when the run ended within the call.
PyObject* BoxedCalls::call_python_with_objects(int number, PyObject* const* operands) {
  const BoxedCall& call = calls_[static_cast<size_t>(number)];
  forget_given();
  std::vector<CallOperandValue> values;
  for (size_t k = 0; k < call.operands.size(); k++) values.push_back({nullptr, nullptr, nullptr, operands[k]});
  PythonCalls::Made made = python_->call(number, values);
  if (made == PythonCalls::Made::failed) return not_made(), nullptr;
  made_python(number, made);
  if (made == PythonCalls::Made::left) return nullptr;
  PyRef results = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(call.results.size())));
  for (size_t k = 0; results && k < call.results.size(); k++)
    PyTuple_SET_ITEM(results.get(), static_cast<Py_ssize_t>(k), python_->results()[k].new_reference());
  return results.release();
}

// The caller's own array when the operand is all of it; else a read-only array over the kernel's memory.
PyRef BoxedCalls::array_operand(DType dtype, const void* memory, std::span<const int64_t> dims,
                                std::span<const int64_t> strides) const {
  for (size_t k = 0; k < arrays_.size(); ++k) {
    if (inputs_[k] != memory || arrays_[k] < 0) continue;
    PyObject* array = sources_[arrays_[k]];
    if (array == nullptr || !is_exact_array(array)) continue;
    const ArrayLayout layout = array_layout(array);
    if (layout.data == memory && layout.descr == descr_of(dtype) &&
        std::ranges::equal(dims, std::span(layout.dims, layout.ndim)) &&
        std::ranges::equal(strides, std::span(layout.strides, layout.ndim)))
      return PyRef::borrow(array);
  }
  return PyRef::steal(new_array_over(dtype, dims, strides, memory));
}

// An operand as an object over the kernel's memory: callables of the primitives' table neither keep it nor write to it.
PyRef BoxedCalls::operand(const Type& type, const void* memory, const int64_t* dims, const int64_t* strides) const {
  size_t rank = static_cast<size_t>(type.rank());
  switch (type.kind) {
    case ValueKind::array:
      return array_operand(type.dtype, memory, {dims, rank}, {strides, rank});
    case ValueKind::numpy_scalar:
      return PyRef::steal(new_numpy_scalar(type.dtype, memory));
    case ValueKind::py_scalar:
      return PyRef::steal(new_python_scalar(type.dtype, memory));
  }
  return {};
}

// New reference, or null with an exception.
PyObject* BoxedCalls::argument(const CallPart& part, const Objects& operands) const {
  switch (part.kind) {
    case CallPart::Kind::constant:
      return part.object.new_reference();
    case CallPart::Kind::source:
      return Py_NewRef(sources_[part.source]);
    case CallPart::Kind::operand:
      return operands[static_cast<size_t>(part.operand)].new_reference();
    default:
      break;
  }
  bool tuple = part.kind == CallPart::Kind::tuple;
  auto size = static_cast<Py_ssize_t>(part.items.size());
  PyRef made = PyRef::steal(tuple ? PyTuple_New(size) : PyList_New(size));
  for (Py_ssize_t k = 0; made && k < size; k++) {
    PyObject* item = argument(part.items[static_cast<size_t>(k)], operands);
    if (item == nullptr) return nullptr;
    tuple ? PyTuple_SET_ITEM(made.get(), k, item) : PyList_SET_ITEM(made.get(), k, item);
  }
  return made.release();
}

PyRef BoxedCalls::invoke(const BoxedCall& call, const Objects& operands) {
  size_t named = call.keywords ? static_cast<size_t>(PyTuple_GET_SIZE(call.keywords.get())) : 0;
  arguments_.reserve(call.arguments.size());
  bool made = true;
  for (const CallPart& part : call.arguments) {
    PyObject* object = made ? argument(part, operands) : nullptr;
    made = object != nullptr;
    if (made) arguments_.push_back(object);
  }
  std::optional<RaisingErrstate> errstate;
  if (call.raises_events) errstate.emplace((event_modes().ignored | call.errstate.ignored) & ~call.errstate.reported);
  PyRef answer;
  if (made && (!errstate || errstate->is_set()))
    answer = PyRef::steal(
        PyObject_Vectorcall(call.callable.get(), arguments_.data(), arguments_.size() - named, call.keywords.get()));
  for (PyObject* object : arguments_) Py_DECREF(object);
  arguments_.clear();
  return answer;
}

// --- results --------------------------------------------------------------------------------------------------------

// Stores the results of a call. False, possibly without an exception, when they differ from what capture assumed.
bool BoxedCalls::take(int number, PyObject* answer) {
  const BoxedCall& call = calls_[static_cast<size_t>(number)];
  auto count = static_cast<Py_ssize_t>(call.results.size());
  if (call.gives_tuple && (!PyTuple_CheckExact(answer) || PyTuple_GET_SIZE(answer) != count)) return false;
  Given* all = given(number);
  for (Py_ssize_t k = 0; k < count; k++) {
    PyObject* result = call.gives_tuple ? PyTuple_GET_ITEM(answer, k) : answer;
    const Type& type = call.results[static_cast<size_t>(k)];
    Given& kept = all[k];
    if (type.kind != ValueKind::array) {
      if (!read_number(result, type, kept.bits)) return false;
      continue;
    }
    if (!is_of_type(result, type)) return false;
    kept.object = PyRef::borrow(result);
  }
  return true;
}

PyObject* BoxedCalls::release_result(int number, int result, const int64_t* dims) {
  PyRef& object = given(number)[result].object;
  const ArrayLayout facts = array_layout(object.get());
  bool own = Py_REFCNT(object.get()) == 1 && facts.owns_data && facts.writeable;
  return own && std::equal(facts.dims, facts.dims + facts.ndim, dims) ? object.release() : nullptr;
}

int64_t BoxedCalls::extent(int number, int result, int axis) const {
  return array_layout(given(number)[result].object.get()).dims[axis];
}

int64_t BoxedCalls::elements_given(int number) const {
  int64_t most = 0;
  const std::vector<Type>& types = calls_[static_cast<size_t>(number)].results;
  for (size_t k = 0; k < types.size(); ++k) {
    PyObject* object = types[k].kind == ValueKind::array ? given(number)[k].object.get() : nullptr;
    if (object != nullptr) most = std::max(most, element_count(array_layout(object)));
  }
  return most;
}

int BoxedCalls::receive(int number, int result, void* memory, const int64_t* dims) {
  const Given& kept = given(number)[result];
  const Type& type = calls_[static_cast<size_t>(number)].results[static_cast<size_t>(result)];
  size_t bytes = static_cast<size_t>(item_size(type.dtype));
  if (type.kind != ValueKind::array) {
    std::memcpy(memory, kept.bits, bytes);
    return 0;
  }
  const std::optional<ArrayLayout> layout = received(number, result, dims);
  if (!layout) return accel_error;
  for (int k = 0; k < layout->ndim; k++) bytes *= static_cast<size_t>(dims[k]);
  if (bytes > 0) std::memcpy(memory, layout->data, bytes);
  return 0;
}

std::optional<ArrayLayout> BoxedCalls::received(int number, int result, const int64_t* dims) {
  const ArrayLayout layout = array_layout(given(number)[result].object.get());
  if (std::equal(layout.dims, layout.dims + layout.ndim, dims)) return layout;
  problem_ = fail(Reason::assumption_failed, "a result of another shape");
  return std::nullopt;
}

// --- failure --------------------------------------------------------------------------------------------------------

// The status after a failed call: an error is dropped, as the interpreter repeats the call and raises it again; another
// exception (KeyboardInterrupt) ends the run.
int BoxedCalls::failed() {
  if (!PyErr_Occurred()) {
    problem_ = fail(Reason::assumption_failed, "a result of another type");
    return accel_error;
  }
  if (cannot_go_on_ || !PyErr_ExceptionMatches(PyExc_Exception)) return accel_interrupted;
  problem_ = fail(Reason::will_raise, take_exception_text());
  return accel_error;
}

// --- bit generators -------------------------------------------------------------------------------------------------

PyObject* BoxedCalls::generator_of(const BoxedCall& call) const {
  const CallPart& part = call.arguments[static_cast<size_t>(call.generator)];
  return part.kind == CallPart::Kind::constant ? part.object.get() : sources_[part.source];
}

// The bit generator that a call draws from, with its state saved before the first draw; null with an exception.
BoxedCalls::Used* BoxedCalls::use(const BoxedCall& call) {
  static PyObject *const name = interned("bit_generator"), *const legacy_name = interned("_bit_generator");
  PyObject* generator = generator_of(call);
  PyRef bits = PyRef::steal(PyObject_GetAttr(generator, call.legacy ? legacy_name : name));
  if (!bits) return nullptr;
  auto found = std::find_if(used_.begin(), used_.end(), [&](const Used& used) { return used.bits.get() == bits.get(); });
  if (found == used_.end()) {
    used_.emplace_back().bits = std::move(bits);
    if (!keep_state(used_.back())) {
      used_.pop_back();
      return nullptr;
    }
    found = used_.end() - 1;
  }
  if (!call.keeps_gauss && !found->owner_state) {
    found->owner = PyRef::borrow(generator);
    found->owner_state = PyRef::steal(PyObject_CallMethod(generator, "get_state", "O", Py_False));
    if (!found->owner_state) return nullptr;
  }
  return &*found;
}

bool BoxedCalls::keep_state(Used& used) const {
  if (auto memory = stream_memory(used.bits.get())) {
    if (memory->size() > sizeof used.small) used.large = std::make_unique_for_overwrite<char[]>(memory->size());
    std::memcpy(used.large ? used.large.get() : used.small, memory->data(), memory->size());
    return true;
  }
  if (is_numpy_bit_generator(used.bits.get())) {
    used.state = PyRef::steal(PyObject_GetAttrString(used.bits.get(), "state"));
    return used.state.get() != nullptr;
  }
  PyErr_SetString(PyExc_TypeError, "a bit generator that is none of NumPy's");
  return false;
}

int BoxedCalls::open_draw(int number) {
  AccelDraw& draw = draws_[static_cast<size_t>(number)];
  if (draw.function == nullptr) return 0;
  Used* used = use(calls_[static_cast<size_t>(number)]);
  if (used == nullptr || (!used->lock && !take_lock(*used))) return failed();
  draw.stream = bit_stream(used->bits.get());
  if (draw.stream == nullptr) return failed();
  if (gives_doubles(draw_infos()[static_cast<size_t>(calls_[static_cast<size_t>(number)].draw)])) {
    DoubleSource source = double_source(draw.stream);
    draw.function = reinterpret_cast<void*>(source.function);
    draw.stream = source.state;
  }
  return 0;
}

// Takes the lock of a bit generator. A run releases its other locks before it waits, so that two runs cannot deadlock.
bool BoxedCalls::take_lock(Used& used) {
  static PyObject *const lock_name = interned("lock"), *const acquire = interned("acquire");
  PyRef lock = PyRef::steal(PyObject_GetAttr(used.bits.get(), lock_name));
  if (!lock) return false;
  if (std::any_of(used_.begin(), used_.end(), [](const Used& other) { return other.lock.get() != nullptr; })) {
    PyRef taken = PyRef::steal(PyObject_CallMethodOneArg(lock.get(), acquire, Py_False));
    if (!taken) return false;
    if (taken.get() == Py_True) {
      used.lock = std::move(lock);
      return true;
    }
    release_locks();
  }
  PyRef taken = PyRef::steal(PyObject_CallMethodNoArgs(lock.get(), acquire));
  if (taken) used.lock = std::move(lock);
  return taken.get() != nullptr;
}

void BoxedCalls::release_locks() {
  static PyObject* const release = interned("release");
  for (AccelDraw& draw : draws_) draw.stream = nullptr;
  for (Used& used : used_) {
    if (!used.lock) continue;
    PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
    PyErr_Fetch(&type, &value, &traceback);
    PyRef lock = std::move(used.lock);
    used.lock = PyRef();
    PyRef none = PyRef::steal(PyObject_CallMethodNoArgs(lock.get(), release));
    if (!none) PyErr_WriteUnraisable(used.bits.get());
    PyErr_Restore(type, value, traceback);
  }
}

void BoxedCalls::undo() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  release_locks();
  for (const Used& used : used_) {  // set_state takes the lock itself
    if (!used.owner_state) continue;
    PyRef none = PyRef::steal(PyObject_CallMethod(used.owner.get(), "set_state", "O", used.owner_state.get()));
    if (!none) PyErr_WriteUnraisable(used.owner.get());
  }
  for (const Used& used : used_) {
    if (used.state) continue;
    std::span<char> memory = *stream_memory(used.bits.get());
    std::memcpy(memory.data(), used.large ? used.large.get() : used.small, memory.size());
  }
  for (const Used& used : used_) {
    if (!used.state) continue;
    if (PyObject_SetAttrString(used.bits.get(), "state", used.state.get()) < 0) PyErr_WriteUnraisable(used.bits.get());
  }
  used_.clear();
  PyErr_Restore(type, value, traceback);
}

}  // namespace accel
