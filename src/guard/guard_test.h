#pragma once
// One guard made ready for testing. Private to this folder.

#include <Python.h>

#include <cstdint>
#include <optional>

#include "guard/dim_program.h"
#include "guard/guard_set.h"

namespace accel {

// Same type and same value, for immutable builtin objects: floats and complex numbers bit by bit, tuples item by item. No
// Python code.
bool same_constant(PyObject* a, PyObject* b);

// The type numpy.ndarray (borrowed).
PyTypeObject* ndarray_type();

struct ArrayTest {
  const void* descr = nullptr;  // identity settles the dtype at once
  DType dtype = DType::float64;
  int ndim = 0;
  Layout layout = Layout::dense;
  enum class Order : uint8_t { c, fortran, other } order_class = Order::c;
  uint8_t order[64] = {};
  int first_symbol = -1;
  int array_input = -1;
  int8_t writeable = -1;  // -1: either
  int device = -1;        // ArrayGuard::device
  PyTypeObject* type = nullptr;
};

// The type of arrays that a guard accepts (borrowed).
PyTypeObject* array_type(const ArrayGuard& guard);
// Whether the object is of a type that `array` guards accept.
bool is_guarded_array(PyObject* object);

// Requires an array of the test's type. Binds dims, strides and the data pointer.
bool test_array(const ArrayTest& test, PyObject* array, Binding& binding);
ArrayTest make_array_test(const ArrayGuard& guard);

// Requires type(object) to be the guard's.
bool bind_number(PyObject* object, DType dtype, int64_t* symbols);

}  // namespace accel
