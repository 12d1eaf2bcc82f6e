#include "guard/guard_test.h"

#include <cstring>

#include "device_array/device_array.h"
#include "guard/memory_order.h"
#include "ndarray/array.h"

namespace accel {
namespace {

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

bool same_complex(PyObject* a, PyObject* b) {
  Py_complex x = PyComplex_AsCComplex(a), y = PyComplex_AsCComplex(b);
  return same_bits(x.real, y.real) && same_bits(x.imag, y.imag);
}

bool same_tuple(PyObject* a, PyObject* b) {
  if (PyTuple_GET_SIZE(a) != PyTuple_GET_SIZE(b)) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(a); i++) {
    if (!same_constant(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i))) return false;
  }
  return true;
}

// Exact ints, strs and bytes compare without Python code.
bool same_by_comparison(PyObject* a, PyObject* b) {
  int equal = PyObject_RichCompareBool(a, b, Py_EQ);
  if (equal < 0) PyErr_Clear();
  return equal == 1;
}

bool has_layout(const ArrayTest& test, const ArrayLayout& facts) {
  if (test.layout == Layout::strided)
    return has_memory_order(facts.ndim, facts.dims, facts.strides, test.order) && fits_in_memory(facts);
  if (has_backward_single(facts.ndim, facts.dims, facts.strides)) return false;
  switch (test.order_class) {
    case ArrayTest::Order::c:
      return facts.c_contiguous;
    case ArrayTest::Order::fortran:
      return facts.f_contiguous;
    default:
      return is_gapless(facts.ndim, facts.dims, facts.strides, test.order, item_size(test.dtype));
  }
}

ArrayTest::Order order_class(const ArrayTest& test) {
  bool ascending = true, descending = true;
  for (int k = 0; k < test.ndim; k++) {
    ascending &= test.order[k] == k;
    descending &= test.order[k] == test.ndim - 1 - k;
  }
  if (ascending) return ArrayTest::Order::c;
  return descending ? ArrayTest::Order::fortran : ArrayTest::Order::other;
}

}  // namespace

PyTypeObject* ndarray_type() {
  static PyTypeObject* type = [] {
    PyRef array = PyRef::steal(new_array(DType::bool_, {}, {}));
    PyTypeObject* found = array ? Py_TYPE(array.get()) : nullptr;
    Py_XINCREF(found);
    return found;
  }();
  return type;
}

PyTypeObject* array_type(const ArrayGuard& guard) { return guard.device < 0 ? ndarray_type() : device_array_type(); }

bool is_guarded_array(PyObject* object) { return is_exact_array(object) || is_device_array(object); }

bool same_constant(PyObject* a, PyObject* b) {
  if (a == b) return true;
  PyTypeObject* type = Py_TYPE(a);
  if (type != Py_TYPE(b)) return false;
  if (type == &PyFloat_Type) return same_bits(PyFloat_AS_DOUBLE(a), PyFloat_AS_DOUBLE(b));
  if (type == &PyComplex_Type) return same_complex(a, b);
  if (type == &PyTuple_Type) return same_tuple(a, b);
  bool comparable = type == &PyLong_Type || type == &PyUnicode_Type || type == &PyBytes_Type;
  return comparable && same_by_comparison(a, b);
}

ArrayTest make_array_test(const ArrayGuard& guard) {
  ArrayTest test;
  test.descr = descr_of(guard.dtype);
  test.dtype = guard.dtype;
  test.ndim = guard.ndim;
  test.layout = guard.layout;
  for (int k = 0; k < guard.ndim; k++) test.order[k] = guard.order.empty() ? static_cast<uint8_t>(k) : guard.order[k];
  test.order_class = order_class(test);
  test.first_symbol = guard.first_symbol;
  test.array_input = guard.input;
  test.device = guard.device;
  test.type = array_type(guard);
  return test;
}

bool test_array(const ArrayTest& test, PyObject* array, Binding& binding) {
  const ArrayLayout facts = array_layout(array);
  if (facts.ndim != test.ndim || !facts.aligned) return false;
  if (test.device >= 0 && block_of(array)->device->number() != test.device) return false;
  if (facts.descr != test.descr && array_facts(array).dtype != test.dtype) return false;
  if (test.writeable >= 0 && facts.writeable != (test.writeable == 1)) return false;
  if (!has_layout(test, facts)) return false;
  if (test.first_symbol >= 0) {
    int64_t* symbols = binding.symbols + test.first_symbol;
    for (int k = 0; k < test.ndim; k++) symbols[k] = facts.dims[k];
    if (test.layout == Layout::strided) {
      for (int k = 0; k < test.ndim; k++) symbols[test.ndim + k] = facts.strides[k];
    }
  }
  if (test.array_input >= 0) binding.inputs[test.array_input] = facts.data;
  return true;
}

bool bind_number(PyObject* object, DType dtype, int64_t* symbols) {
  if (PyLong_CheckExact(object) && dtype == DType::int64) {
    int overflow = 0;
    *symbols = PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow == 0;
  }
  if (PyFloat_CheckExact(object) && dtype == DType::float64) {
    double value = PyFloat_AS_DOUBLE(object);
    std::memcpy(symbols, &value, sizeof value);
    return true;
  }
  uint64_t bits[2] = {0, 0};
  if (!read_scalar(object, dtype, bits)) return false;
  std::memcpy(symbols, bits, item_size(dtype) > 8 ? 16 : 8);
  return true;
}

}  // namespace accel
