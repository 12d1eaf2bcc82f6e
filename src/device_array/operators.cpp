#include "device_array/operators.h"

#include "device_array/object.h"

namespace accel {
namespace {

PyObject* call_with_symbol(const char* function, const char* symbol, std::initializer_list<PyObject*> operands) {
  PyRef name = PyRef::steal(PyUnicode_InternFromString(symbol));
  if (!name) return nullptr;
  if (operands.size() == 1) return call_device_function(function, {name.get(), operands.begin()[0]});
  return call_device_function(function, {name.get(), operands.begin()[0], operands.begin()[1]});
}

PyObject* operate_in_place(const char* symbol, PyObject* self, PyObject* other) {
  PyRef result = PyRef::steal(call_with_symbol("operate_in_place", symbol, {self, other}));
  if (!result || result.get() == Py_NotImplemented) return result.release();
  return Py_NewRef(self);
}

#define BINARY(name, symbol)                                                                                     \
  PyObject* name(PyObject* left, PyObject* right) { return call_with_symbol("operate", symbol, {left, right}); } \
  PyObject* name##_in_place(PyObject* self, PyObject* other) { return operate_in_place(symbol "=", self, other); }
BINARY(add, "+")
BINARY(subtract, "-")
BINARY(multiply, "*")
BINARY(true_divide, "/")
BINARY(floor_divide, "//")
BINARY(remainder, "%")
BINARY(matrix_multiply, "@")
BINARY(shift_left, "<<")
BINARY(shift_right, ">>")
BINARY(bit_and, "&")
BINARY(bit_xor, "^")
BINARY(bit_or, "|")
#undef BINARY

PyObject* divmod(PyObject* left, PyObject* right) { return call_with_symbol("operate", "divmod", {left, right}); }

PyObject* power(PyObject* left, PyObject* right, PyObject* modulo) {
  if (modulo != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return call_with_symbol("operate", "**", {left, right});
}

PyObject* power_in_place(PyObject* self, PyObject* other, PyObject* modulo) {
  if (modulo != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return operate_in_place("**=", self, other);
}

#define UNARY(name, symbol) \
  PyObject* name(PyObject* self) { return call_with_symbol("operate_on", symbol, {self}); }
UNARY(negative, "-")
UNARY(positive, "+")
UNARY(absolute, "abs")
UNARY(invert, "~")
#undef UNARY

// What has the value for conversions to numbers: a copy on the host, where NumPy reads the value; else an array that is not
// read, for NumPy's exceptions.
PyRef convertible(PyObject* self) {
  bool is_read = element_count(dims_of(self)) == 1;
  return PyRef::steal(is_read ? to_host(self) : new_unreadable_array(as_device(self)->fields));
}

int is_true(PyObject* self) {
  PyRef value = convertible(self);
  return value ? PyObject_IsTrue(value.get()) : -1;
}

PyObject* to_int(PyObject* self) {
  PyRef value = convertible(self);
  return value ? PyNumber_Long(value.get()) : nullptr;
}

PyObject* to_float(PyObject* self) {
  PyRef value = convertible(self);
  return value ? PyNumber_Float(value.get()) : nullptr;
}

PyObject* to_index(PyObject* self) {
  PyRef value = convertible(self);
  return value ? PyNumber_Index(value.get()) : nullptr;
}

PyNumberMethods make_methods() {
  PyNumberMethods methods = {};
  methods.nb_add = add, methods.nb_inplace_add = add_in_place;
  methods.nb_subtract = subtract, methods.nb_inplace_subtract = subtract_in_place;
  methods.nb_multiply = multiply, methods.nb_inplace_multiply = multiply_in_place;
  methods.nb_true_divide = true_divide, methods.nb_inplace_true_divide = true_divide_in_place;
  methods.nb_floor_divide = floor_divide, methods.nb_inplace_floor_divide = floor_divide_in_place;
  methods.nb_remainder = remainder, methods.nb_inplace_remainder = remainder_in_place;
  methods.nb_matrix_multiply = matrix_multiply, methods.nb_inplace_matrix_multiply = matrix_multiply_in_place;
  methods.nb_lshift = shift_left, methods.nb_inplace_lshift = shift_left_in_place;
  methods.nb_rshift = shift_right, methods.nb_inplace_rshift = shift_right_in_place;
  methods.nb_and = bit_and, methods.nb_inplace_and = bit_and_in_place;
  methods.nb_xor = bit_xor, methods.nb_inplace_xor = bit_xor_in_place;
  methods.nb_or = bit_or, methods.nb_inplace_or = bit_or_in_place;
  methods.nb_power = power, methods.nb_inplace_power = power_in_place;
  methods.nb_divmod = divmod;
  methods.nb_negative = negative, methods.nb_positive = positive;
  methods.nb_absolute = absolute, methods.nb_invert = invert;
  methods.nb_bool = is_true, methods.nb_int = to_int, methods.nb_float = to_float, methods.nb_index = to_index;
  return methods;
}

}  // namespace

PyNumberMethods device_number_methods = make_methods();

PyObject* compare_device_array(PyObject* self, PyObject* other, int operation) {
  static constexpr const char* symbols[] = {"<", "<=", "==", "!=", ">", ">="};  // in the order of Py_LT ... Py_GE
  return call_with_symbol("operate", symbols[operation], {self, other});
}

}  // namespace accel
