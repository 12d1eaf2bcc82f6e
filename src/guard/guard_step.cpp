#include "guard/guard_step.h"

#include "cpython/namespace.h"
#include "guard/overlap.h"
#include "ndarray/array.h"

namespace accel {
namespace {

bool has_length(PyObject* object, int64_t length) {
  if (PyTuple_CheckExact(object) || PyList_CheckExact(object)) return Py_SIZE(object) == length;
  return PyDict_CheckExact(object) && PyDict_GET_SIZE(object) == length;
}

// Keys are constants that same_constant can compare, or are themselves.
bool has_keys(PyObject* object, PyObject* keys) {
  if (!has_length(object, PyTuple_GET_SIZE(keys)) || !PyDict_CheckExact(object)) return false;
  PyObject *key = nullptr, *item = nullptr;
  Py_ssize_t number = 0;
  for (Py_ssize_t at = 0; PyDict_Next(object, &at, &key, &item); ++number) {
    PyObject* expected = PyTuple_GET_ITEM(keys, number);
    if (key != expected && !same_constant(key, expected)) return false;
  }
  return true;
}

bool are_disjoint(PyObject* a, PyObject* b) {
  return is_guarded_array(a) && is_guarded_array(b) && !share_memory(array_layout(a), array_layout(b));
}

}  // namespace

GuardStep reading_step(SourceId source) {
  GuardStep step;
  step.reads = true;
  step.source = source;
  return step;
}

GuardStep testing_step(const Guard& guard, std::vector<ArrayTest>& arrays) {
  GuardStep step;
  step.kind = guard.kind;
  step.source = guard.source;
  step.other = guard.other;
  step.object = guard.object.get();
  step.value = guard.value;
  if (guard.kind == GuardKind::number) {
    step.value = guard.number.first_symbol;
    step.dtype = guard.number.dtype;
  }
  if (guard.kind == GuardKind::array) {
    step.value = static_cast<int64_t>(arrays.size());
    arrays.push_back(make_array_test(guard.array));
  }
  return step;
}

bool holds(const GuardStep& step, PyObject* object, PyObject* other, const ArrayTest* arrays, Binding& binding) {
  if (step.kind == GuardKind::unbound || object == nullptr) return step.kind == GuardKind::unbound && object == nullptr;
  switch (step.kind) {
    case GuardKind::identity:
      return object == step.object;
    case GuardKind::type:
      return reinterpret_cast<PyObject*>(Py_TYPE(object)) == step.object;
    case GuardKind::equals:
      return same_constant(object, step.object);
    case GuardKind::length:
      return has_length(object, step.value);
    case GuardKind::keys:
      return has_keys(object, step.object);
    case GuardKind::array:
      return Py_TYPE(object) == arrays[step.value].type && test_array(arrays[step.value], object, binding);
    case GuardKind::number:
      return reinterpret_cast<PyObject*>(Py_TYPE(object)) == step.object &&
             bind_number(object, step.dtype, binding.symbols + step.value);
    case GuardKind::foreign_array:
      return is_exact_array(object) && !is_supported(array_facts(object));
    case GuardKind::writeable:
      return is_guarded_array(object) && array_layout(object).writeable == (step.value != 0);
    case GuardKind::bound:
      return object != other;
    case GuardKind::same:
      return (object == other) == (step.value != 0);
    case GuardKind::same_names:
      return other != nullptr && (namespace_of(object) == namespace_of(other)) == (step.value != 0);
    case GuardKind::distinct:
      return is_guarded_array(object) && has_distinct_elements(array_layout(object)) == (step.value != 0);
    case GuardKind::disjoint:
      return other != nullptr && are_disjoint(object, other) == (step.value != 0);
    case GuardKind::unbound:
    case GuardKind::relation:
      break;
  }
  return true;
}

}  // namespace accel
