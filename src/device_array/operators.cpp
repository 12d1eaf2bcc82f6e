#include "device_array/operators.h"

#include <optional>
#include <span>
#include <unordered_map>

#include "device_array/object.h"

namespace accel {
namespace {

// An operator: the function of accel._device_functions that applies it to any operands, and its compiled functions by kinds of
// operands, which are made when they are first needed and never released.
struct Operation {
  const char *function, *symbol;
  std::unordered_map<uint32_t, PyObject*> compiled = {};
};

constexpr uint32_t no_kind = 0;

// The dtype, rank and type of an operand that a compiled function takes as it is; else no_kind.
uint32_t kind_of(PyObject* object) {
  constexpr uint32_t device = 1, host = 2, scalar = 3, number = 4;
  auto kind = [](uint32_t type, uint32_t dtype, int rank) { return type << 13 | dtype << 7 | static_cast<uint32_t>(rank); };
  if (is_device_array(object)) return kind(device, static_cast<uint32_t>(dtype_of(object)), as_device(object)->fields.rank);
  if (PyFloat_CheckExact(object)) return kind(number, 0, 0);
  if (PyLong_CheckExact(object)) return kind(number, 1, 0);
  if (PyComplex_CheckExact(object)) return kind(number, 2, 0);
  if (PyBool_Check(object)) return kind(number, 3, 0);
  if (is_exact_array(object)) {
    const ArrayFacts facts = array_facts(object);
    return kind(host, facts.dtype ? static_cast<uint32_t>(*facts.dtype) : 63, facts.ndim);
  }
  const std::optional<DType> dtype = is_numpy_scalar(object) ? dtype_of_scalar(object) : std::nullopt;
  return dtype ? kind(scalar, static_cast<uint32_t>(*dtype), 0) : no_kind;
}

// The compiled function for these operands. Borrowed; null with an exception.
PyObject* compiled_for(Operation& operation, uint32_t kinds, std::span<PyObject* const> operands) {
  PyObject*& compiled = operation.compiled[kinds];
  if (compiled != nullptr) return compiled;
  PyRef symbol = PyRef::steal(PyUnicode_InternFromString(operation.symbol));
  PyRef function = PyRef::steal(PyUnicode_InternFromString(operation.function));
  if (!symbol || !function) return nullptr;
  if (operands.size() == 1)
    return compiled = call_device_function("compiled_operation", {function.get(), symbol.get(), operands[0]});
  return compiled = call_device_function("compiled_operation", {function.get(), symbol.get(), operands[0], operands[1]});
}

PyObject* apply_any(const Operation& operation, std::span<PyObject* const> operands) {
  PyRef symbol = PyRef::steal(PyUnicode_InternFromString(operation.symbol));
  if (!symbol) return nullptr;
  if (operands.size() == 1) return call_device_function(operation.function, {symbol.get(), operands[0]});
  return call_device_function(operation.function, {symbol.get(), operands[0], operands[1]});
}

PyObject* apply(Operation& operation, std::initializer_list<PyObject*> operands) {
  uint32_t kinds = 0;
  for (PyObject* operand : operands) {
    const uint32_t kind = kind_of(operand);
    if (kind == no_kind) return apply_any(operation, operands);
    kinds = kinds << 16 | kind;
  }
  if (is_in_device_function()) return apply_any(operation, operands);
  PyObject* compiled = compiled_for(operation, kinds, operands);
  return compiled != nullptr ? run_device_function(compiled, operands) : nullptr;
}

PyObject* apply_in_place(Operation& operation, PyObject* self, PyObject* other) {
  PyRef result = PyRef::steal(apply(operation, {self, other}));
  if (!result || result.get() == Py_NotImplemented) return result.release();
  return Py_NewRef(self);
}

#define BINARY(name, symbol)                                    \
  PyObject* name(PyObject* left, PyObject* right) {             \
    static Operation operation{"operate", symbol};              \
    return apply(operation, {left, right});                     \
  }                                                             \
  PyObject* name##_in_place(PyObject* self, PyObject* other) {  \
    static Operation operation{"operate_in_place", symbol "="}; \
    return apply_in_place(operation, self, other);              \
  }
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

PyObject* divmod(PyObject* left, PyObject* right) {
  static Operation operation{"operate", "divmod"};
  return apply(operation, {left, right});
}

PyObject* power(PyObject* left, PyObject* right, PyObject* modulo) {
  if (modulo != Py_None) Py_RETURN_NOTIMPLEMENTED;
  static Operation operation{"operate", "**"};
  return apply(operation, {left, right});
}

PyObject* power_in_place(PyObject* self, PyObject* other, PyObject* modulo) {
  if (modulo != Py_None) Py_RETURN_NOTIMPLEMENTED;
  static Operation operation{"operate_in_place", "**="};
  return apply_in_place(operation, self, other);
}

#define UNARY(name, symbol)                           \
  PyObject* name(PyObject* self) {                    \
    static Operation operation{"operate_on", symbol}; \
    return apply(operation, {self});                  \
  }
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
  static Operation comparisons[] = {{"operate", "<"},  {"operate", "<="}, {"operate", "=="},  // in the order of Py_LT ... Py_GE
                                    {"operate", "!="}, {"operate", ">"},  {"operate", ">="}};
  return apply(comparisons[operation], {self, other});
}

}  // namespace accel
