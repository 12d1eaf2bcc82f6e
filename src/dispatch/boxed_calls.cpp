#include "dispatch/boxed_calls.h"

#include <cstring>
#include <numeric>

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

BoxedCalls::BoxedCalls(const std::vector<BoxedCall>& calls, PyObject* const* sources)
    : calls_(calls), sources_(sources), given_(calls.size()) {}

// --- the call -------------------------------------------------------------------------------------------------------

int BoxedCalls::call(int number, const void* const* operands, const int64_t* dims) {
  const BoxedCall& call = calls_[static_cast<size_t>(number)];
  if (!prepare(call)) return failed();
  int axes =
      std::accumulate(call.operands.begin(), call.operands.end(), 0, [](int sum, const Type& t) { return sum + t.rank(); });
  std::vector<PyRef> objects;
  for (size_t k = 0; k < call.operands.size(); k++) {
    const Type& type = call.operands[k];
    PyRef object = operand(type, operands[k], dims, dims + axes);
    if (object && call.changed == static_cast<int>(k)) object = PyRef::steal(new_copy(object.get()));
    if (!object) return failed();
    objects.push_back(std::move(object));
    dims += type.rank();
  }
  PyRef answer = invoke(call, objects);
  if (answer && call.changed >= 0) answer = objects[static_cast<size_t>(call.changed)];
  return answer && take(number, answer.get()) ? 0 : failed();
}

PyObject* BoxedCalls::call_with_objects(int number, PyObject* const* operands) {
  const BoxedCall& call = calls_[static_cast<size_t>(number)];
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

bool BoxedCalls::prepare(const BoxedCall& call) {
  if (call.generator < 0) return true;
  const CallPart& part = call.arguments[static_cast<size_t>(call.generator)];
  PyRef generator = argument(part, {});
  return generator && save_state(generator.get());
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

PyRef BoxedCalls::invoke(const BoxedCall& call, const std::vector<PyRef>& operands) const {
  std::vector<PyRef> owned;
  std::vector<PyObject*> arguments;
  for (const CallPart& part : call.arguments) {
    owned.push_back(argument(part, operands));
    if (!owned.back()) return {};
    arguments.push_back(owned.back().get());
  }
  size_t named = call.keywords ? static_cast<size_t>(PyTuple_GET_SIZE(call.keywords.get())) : 0;
  std::optional<RaisingErrstate> errstate;
  if (call.raises_events) errstate.emplace((ignored_events() | call.errstate.ignored) & ~call.errstate.reported);
  if (errstate && !errstate->is_set()) return {};
  return PyRef::steal(
      PyObject_Vectorcall(call.callable.get(), arguments.data(), arguments.size() - named, call.keywords.get()));
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

bool BoxedCalls::save_state(PyObject* generator) {
  PyRef bits = PyRef::steal(PyObject_GetAttrString(generator, "bit_generator"));
  if (!bits) return false;
  for (const auto& [known, state] : bit_generators_) {
    if (known.get() == bits.get()) return true;
  }
  if (!is_numpy_bit_generator(bits.get())) {
    PyErr_SetString(PyExc_TypeError, "a bit generator that is none of NumPy's");
    return false;
  }
  PyRef state = PyRef::steal(PyObject_GetAttrString(bits.get(), "state"));
  if (!state) return false;
  bit_generators_.emplace_back(std::move(bits), std::move(state));
  return true;
}

void BoxedCalls::undo() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  for (const auto& [bits, state] : bit_generators_) {
    if (PyObject_SetAttrString(bits.get(), "state", state.get()) < 0) PyErr_WriteUnraisable(bits.get());
  }
  bit_generators_.clear();
  PyErr_Restore(type, value, traceback);
}

}  // namespace accel
