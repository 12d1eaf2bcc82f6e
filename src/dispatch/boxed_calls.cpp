#include "dispatch/boxed_calls.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "capture/capture.h"
#include "codegen/kernel_abi.h"
#include "dispatch/errstate.h"
#include "dispatch/python_errors.h"
#include "guard/memory_order.h"
#include "ndarray/array.h"

namespace accel {
namespace {

// Whether `object`, an array, is what capture took it to be, and lies in memory so.
bool is_of_type(PyObject* object, const Type& type) {
  if (!is_exact_array(object)) return false;
  ArrayFacts facts = array_facts(object);
  if (facts.dtype != type.dtype || facts.ndim != type.rank()) return false;
  return is_gapless(facts.ndim, facts.dims, facts.strides, type.axis_order().data(), item_size(type.dtype));
}

bool read_number(PyObject* object, const Type& type, uint64_t bits[2]) {
  bool python = type.kind == ValueKind::py_scalar;
  bool known = python ? Py_IS_TYPE(object, python_type_of(type.dtype)) : dtype_of_scalar(object) == type.dtype;
  return known && read_scalar(object, type.dtype, bits);
}

// NumPy's own bit generators: their state can be read and written without running other code.
bool is_numpy_bit_generator(PyObject* object) {
  static const std::vector<PyObject*> types = [] {
    std::vector<PyObject*> out;
    PyRef module = PyRef::steal(PyImport_ImportModule("numpy.random"));
    for (const char* name : {"PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"}) {
      PyObject* type = module ? PyObject_GetAttrString(module.get(), name) : nullptr;
      type != nullptr ? out.push_back(type) : PyErr_Clear();
    }
    return out;
  }();
  for (PyObject* type : types) {
    if (reinterpret_cast<PyObject*>(Py_TYPE(object)) == type) return true;
  }
  return false;
}

}  // namespace

BoxedCalls::BoxedCalls(const CheckedRun& run)
    : calls_(run.captured->calls), sources_(run.binding.sources), given_(calls_.size()), streams_(calls_.size()) {
  if (std::any_of(calls_.begin(), calls_.end(), [](const BoxedCall& call) { return call.python != nullptr; }))
    python_.emplace(run);
}

// --- the call -------------------------------------------------------------------------------------------------------

int BoxedCalls::call(int number, const void* const* operands, const int64_t* dims) {
  const BoxedCall& call = calls_[static_cast<size_t>(number)];
  if (call.python) return call_python(number, operands, dims);
  if (!prepare(call)) return failed();
  int axes =
      std::accumulate(call.operands.begin(), call.operands.end(), 0, [](int sum, const Type& t) { return sum + t.rank(); });
  objects_.clear();
  for (size_t k = 0; k < call.operands.size(); k++) {
    const Type& type = call.operands[k];
    PyRef object = operand(type, operands[k], dims, dims + axes);
    if (object && call.changed == static_cast<int>(k)) object = PyRef::steal(new_copy(object.get()));
    if (!object) return failed();
    objects_.push_back(std::move(object));
    dims += type.rank();
  }
  PyRef answer = invoke(call, objects_);
  if (answer && call.changed >= 0) answer = objects_[static_cast<size_t>(call.changed)];
  bool taken = answer && take(number, answer.get());
  objects_.clear();
  owned_.clear();
  if (taken && call.draws_double) open_stream(number);
  return taken ? 0 : failed();
}

int BoxedCalls::call_python(int number, const void* const* operands, const int64_t* dims) {
  const BoxedCall& call = calls_[static_cast<size_t>(number)];
  const int64_t* strides = dims;
  for (const Type& type : call.operands) strides += type.rank();
  std::vector<CallOperandValue> values;
  for (size_t k = 0; k < call.operands.size(); k++) {
    values.push_back({operands[k], dims, strides, nullptr});
    dims += call.operands[k].rank();
    strides += call.operands[k].rank();
  }
  release_locks();
  return made_python(number, python_->call(number, values));
}

// What was done before a call that has been made stays.
int BoxedCalls::made_python(int number, PythonCalls::Made made) {
  if (made == PythonCalls::Made::failed) return failed();
  used_.clear();
  if (made == PythonCalls::Made::left) return accel_left;
  std::vector<Given>& given = given_[static_cast<size_t>(number)];
  const std::vector<Type>& types = calls_[static_cast<size_t>(number)].results;
  given.resize(types.size());
  for (size_t k = 0; k < types.size(); k++) {
    given[k].object = python_->results()[k];
    if (types[k].kind != ValueKind::array) read_scalar(given[k].object.get(), types[k].dtype, given[k].bits);
  }
  return 0;
}

bool BoxedCalls::call_directly(int number) {
  const BitStream& stream = streams_[static_cast<size_t>(number)];
  if (!stream.is_open()) return false;
  double drawn = stream.next_double();
  std::memcpy(given_[static_cast<size_t>(number)][0].bits, &drawn, sizeof drawn);
  return true;
}

PyObject* BoxedCalls::call_with_objects(int number, PyObject* const* operands) {
  const BoxedCall& call = calls_[static_cast<size_t>(number)];
  if (call.python) return call_python_with_objects(number, operands);
  if (!prepare(call)) return nullptr;
  std::vector<PyRef> objects;
  for (size_t k = 0; k < call.operands.size(); k++) {
    bool changed = call.changed == static_cast<int>(k);
    objects.push_back(changed ? PyRef::steal(new_copy(operands[k])) : PyRef::borrow(operands[k]));
    if (!objects.back()) return nullptr;
  }
  PyRef answer = invoke(call, objects);
  if (answer && call.changed >= 0) answer = objects[static_cast<size_t>(call.changed)];
  if (!answer || !take(number, answer.get())) return nullptr;
  return call.gives_tuple ? answer.release() : PyTuple_Pack(1, answer.get());
}

// Null without an exception when the call has left.
PyObject* BoxedCalls::call_python_with_objects(int number, PyObject* const* operands) {
  const BoxedCall& call = calls_[static_cast<size_t>(number)];
  std::vector<CallOperandValue> values;
  for (size_t k = 0; k < call.operands.size(); k++) values.push_back({nullptr, nullptr, nullptr, operands[k]});
  PythonCalls::Made made = python_->call(number, values);
  if (made == PythonCalls::Made::failed) return nullptr;
  made_python(number, made);
  if (made == PythonCalls::Made::left) return nullptr;
  PyRef results = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(call.results.size())));
  for (size_t k = 0; results && k < call.results.size(); k++)
    PyTuple_SET_ITEM(results.get(), static_cast<Py_ssize_t>(k), python_->results()[k].new_reference());
  return results.release();
}

bool BoxedCalls::prepare(const BoxedCall& call) {
  if (call.generator < 0) return true;
  const CallPart& part = call.arguments[static_cast<size_t>(call.generator)];
  PyRef generator = argument(part, {});
  for (const Used& used : used_) {
    if (used.generator.get() == generator.get()) return true;
  }
  return generator && save_state(std::move(generator));
}

// What the callables of the table get they do not keep: arrays over the kernel's memory, which they cannot write to.
PyRef BoxedCalls::operand(const Type& type, const void* memory, const int64_t* dims, const int64_t* strides) const {
  size_t rank = static_cast<size_t>(type.rank());
  switch (type.kind) {
    case ValueKind::array:
      return PyRef::steal(new_array_over(type.dtype, {dims, rank}, {strides, rank}, memory));
    case ValueKind::numpy_scalar:
      return PyRef::steal(new_numpy_scalar(type.dtype, memory));
    case ValueKind::py_scalar:
      return PyRef::steal(new_python_scalar(type.dtype, memory));
  }
  return {};
}

PyRef BoxedCalls::argument(const CallPart& part, const std::vector<PyRef>& operands) const {
  switch (part.kind) {
    case CallPart::Kind::constant:
      return part.object;
    case CallPart::Kind::source:
      return PyRef::borrow(sources_[part.source]);
    case CallPart::Kind::operand:
      return operands[static_cast<size_t>(part.operand)];
    default:
      break;
  }
  bool tuple = part.kind == CallPart::Kind::tuple;
  auto size = static_cast<Py_ssize_t>(part.items.size());
  PyRef made = PyRef::steal(tuple ? PyTuple_New(size) : PyList_New(size));
  for (Py_ssize_t k = 0; made && k < size; k++) {
    PyRef item = argument(part.items[static_cast<size_t>(k)], operands);
    if (!item) return {};
    tuple ? PyTuple_SET_ITEM(made.get(), k, item.release()) : PyList_SET_ITEM(made.get(), k, item.release());
  }
  return made;
}

PyRef BoxedCalls::invoke(const BoxedCall& call, const std::vector<PyRef>& operands) {
  owned_.clear();
  arguments_.clear();
  for (const CallPart& part : call.arguments) {
    owned_.push_back(argument(part, operands));
    if (!owned_.back()) return {};
    arguments_.push_back(owned_.back().get());
  }
  size_t named = call.keywords ? static_cast<size_t>(PyTuple_GET_SIZE(call.keywords.get())) : 0;
  std::optional<RaisingErrstate> errstate;
  if (call.raises_events) errstate.emplace((event_modes().ignored | call.errstate.ignored) & ~call.errstate.reported);
  if (errstate && !errstate->is_set()) return {};
  return PyRef::steal(
      PyObject_Vectorcall(call.callable.get(), arguments_.data(), arguments_.size() - named, call.keywords.get()));
}

// --- results --------------------------------------------------------------------------------------------------------

// Keeps what the callable gave. False, perhaps without an exception, when it is something else than capture took it for.
bool BoxedCalls::take(int number, PyObject* answer) {
  const BoxedCall& call = calls_[static_cast<size_t>(number)];
  auto count = static_cast<Py_ssize_t>(call.results.size());
  if (call.gives_tuple && (!PyTuple_CheckExact(answer) || PyTuple_GET_SIZE(answer) != count)) return false;
  std::vector<Given>& given = given_[static_cast<size_t>(number)];
  given.resize(call.results.size());
  for (Py_ssize_t k = 0; k < count; k++) {
    PyObject* result = call.gives_tuple ? PyTuple_GET_ITEM(answer, k) : answer;
    const Type& type = call.results[static_cast<size_t>(k)];
    Given& kept = given[static_cast<size_t>(k)];
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
  PyRef& object = given_[static_cast<size_t>(number)][static_cast<size_t>(result)].object;
  ArrayFacts facts = array_facts(object.get());
  bool own = Py_REFCNT(object.get()) == 1 && facts.owns_data && facts.writeable;
  return own && std::equal(facts.dims, facts.dims + facts.ndim, dims) ? object.release() : nullptr;
}

int64_t BoxedCalls::extent(int number, int result, int axis) const {
  return array_facts(given_[static_cast<size_t>(number)][static_cast<size_t>(result)].object.get()).dims[axis];
}

int BoxedCalls::receive(int number, int result, void* memory, const int64_t* dims) {
  const Given& given = given_[static_cast<size_t>(number)][static_cast<size_t>(result)];
  const Type& type = calls_[static_cast<size_t>(number)].results[static_cast<size_t>(result)];
  size_t bytes = static_cast<size_t>(item_size(type.dtype));
  if (type.kind != ValueKind::array) {
    std::memcpy(memory, given.bits, bytes);
    return 0;
  }
  ArrayFacts facts = array_facts(given.object.get());
  for (int k = 0; k < facts.ndim; k++) {
    if (facts.dims[k] != dims[k]) {
      problem_ = fail(Reason::assumption_failed, "a result of another shape");
      return accel_error;
    }
    bytes *= static_cast<size_t>(dims[k]);
  }
  if (bytes > 0) std::memcpy(memory, facts.data, bytes);
  return 0;
}

// --- failure --------------------------------------------------------------------------------------------------------

// What NumPy raises it raises again, when the interpreter makes the call. An exception that is no error (KeyboardInterrupt)
// ends the run with it.
int BoxedCalls::failed() {
  if (!PyErr_Occurred()) {
    problem_ = fail(Reason::assumption_failed, "a result of another type");
    return accel_error;
  }
  if (!PyErr_ExceptionMatches(PyExc_Exception)) return accel_interrupted;
  problem_ = fail(Reason::will_raise, take_exception_text());
  return accel_error;
}

bool BoxedCalls::save_state(PyRef generator) {
  Used made;
  made.bits = PyRef::steal(PyObject_GetAttrString(generator.get(), "bit_generator"));
  if (!made.bits) return false;
  made.generator = std::move(generator);
  bool known = false;  // by another Generator that has it too
  for (const Used& used : used_) known = known || used.bits.get() == made.bits.get();
  if (!known && !is_numpy_bit_generator(made.bits.get())) {
    PyErr_SetString(PyExc_TypeError, "a bit generator that is none of NumPy's");
    return false;
  }
  if (!known) made.state = PyRef::steal(PyObject_GetAttrString(made.bits.get(), "state"));
  if (!known && !made.state) return false;
  used_.push_back(std::move(made));
  return true;
}

// From now on the call is made directly, when the lock can be had: it is one that its thread may take again.
void BoxedCalls::open_stream(int number) {
  const CallPart& part = calls_[static_cast<size_t>(number)].arguments[0];
  for (Used& used : used_) {
    if (used.generator.get() != sources_[part.source]) continue;
    PyRef lock = PyRef::steal(used.locked ? nullptr : PyObject_GetAttrString(used.bits.get(), "lock"));
    if (lock && std::strcmp(Py_TYPE(lock.get())->tp_name, "_thread.RLock") == 0) {
      PyRef taken = PyRef::steal(PyObject_CallMethod(lock.get(), "acquire", "O", Py_False));
      used.locked = taken.get() == Py_True;
    }
    if (used.locked && !used.stream.is_open()) used.stream = BitStream(used.bits.get());
    if (used.locked) streams_[static_cast<size_t>(number)] = used.stream;
  }
  PyErr_Clear();
}

void BoxedCalls::release_locks() {
  for (BitStream& stream : streams_) stream = BitStream();
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  for (Used& used : used_) {
    if (!std::exchange(used.locked, false)) continue;
    PyRef lock = PyRef::steal(PyObject_GetAttrString(used.bits.get(), "lock"));
    PyRef none = PyRef::steal(lock ? PyObject_CallMethod(lock.get(), "release", nullptr) : nullptr);
    if (!none) PyErr_WriteUnraisable(used.bits.get());
  }
  PyErr_Restore(type, value, traceback);
}

void BoxedCalls::undo() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  for (const Used& used : used_) {
    if (!used.state) continue;
    if (PyObject_SetAttrString(used.bits.get(), "state", used.state.get()) < 0) PyErr_WriteUnraisable(used.bits.get());
  }
  used_.clear();
  PyErr_Restore(type, value, traceback);
}

}  // namespace accel
