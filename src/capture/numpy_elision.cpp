#include "capture/numpy_elision.h"

#include <algorithm>

#include "capture/numpy_arguments.h"

namespace accel {

namespace {

constexpr int64_t least_bytes = 256 * 1024;  // NPY_MIN_ELIDE_BYTES

// NumPy looks at the C stack to tell whether the interpreter called it, which it cannot everywhere. It is tried once.
bool elides() {
  static const bool known = [] {
    constexpr const char* code =
        "import numpy\n"
        "x = numpy.zeros((256, 256))\n"
        "elides = (x.T + 1 + x).strides == (x.T + 1).strides\n";
    PyRef names = PyRef::steal(PyDict_New());
    PyRef done = PyRef::steal(names ? PyRun_String(code, Py_file_input, names.get(), names.get()) : nullptr);
    PyObject* answer = done ? PyDict_GetItemString(names.get(), "elides") : nullptr;
    if (answer == nullptr) PyErr_Clear();
    return answer == Py_True;
  }();
  return known;
}

bool is_elidable(Op op) {
  switch (op) {
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::divide:
    case Op::floor_divide:
    case Op::left_shift:
    case Op::right_shift:
    case Op::bitwise_and:
    case Op::bitwise_or:
    case Op::bitwise_xor:
      return true;
    default:
      return false;
  }
}

bool commutes(Op op) {
  return op == Op::add || op == Op::multiply || op == Op::bitwise_and || op == Op::bitwise_or || op == Op::bitwise_xor;
}

// Whether an array has memory that an operation of NumPy has made for it.
bool owns_memory(Capture& capture, const Ref& array) {
  const Storage& storage = *array->array.storage;
  if (storage.source >= 0 || storage.maybe || !array->array.path.empty() || !array->array.writeable) return false;
  ValueId v = storage.current;
  if (v == no_value || capture.graph().is_input(v)) return false;
  OpClass kind = op_class(capture.graph().producer(v).op);
  return kind == OpClass::pointwise || kind == OpClass::reduction;
}

DType dtype_of(const OperandType& type) {
  switch (type.kind) {
    case OperandType::Kind::py_bool:
      return DType::bool_;
    case OperandType::Kind::py_int:
      return DType::int64;
    case OperandType::Kind::py_float:
      return DType::float64;
    case OperandType::Kind::py_complex:
      return DType::complex128;
    default:
      return type.dtype;
  }
}

bool may_be_overwritten(Capture& capture, const Operand& temporary, const Operand& other) {
  if (!temporary.is_array() || temporary.ref->kind != AbstractKind::array || temporary.type.dtype == DType::float16)
    return false;
  bool fits = other.shape.empty() || other.shape == temporary.shape;
  // Guards cannot tell of sizes known at run time only.
  bool known = std::none_of(temporary.shape.begin(), temporary.shape.end(), [&](Dim d) { return capture.is_runtime(d); });
  return fits && known && can_cast(dtype_of(other.type), temporary.type.dtype, "safe") && owns_memory(capture, temporary.ref);
}

bool is_large(Capture& capture, const Operand& array) {
  DimTable& dims = capture.dims();
  Dim bytes = dims.mul(element_count(capture, array.shape), item_size(array.type.dtype));
  return capture.decide(bytes, Comparison::ge, dims.constant(least_bytes));
}

// Axes from slowest to fastest, also of C order.
std::vector<uint8_t> spelled_out(std::vector<uint8_t> order, size_t rank) {
  for (size_t k = order.size(); k < rank; ++k) order.push_back(static_cast<uint8_t>(k));
  return order;
}

bool is_seen(Capture& capture, Op op, const Operand& into, const Operand& left, const Operand& right) {
  bool swapped = into.ref == right.ref && left.ref != right.ref;
  if (swapped && op == Op::multiply && dtype_kind(into.type.dtype) == 'c') return true;
  size_t rank = into.shape.size();
  return spelled_out(result_order(capture, {left, right}, into.shape), rank) !=
         spelled_out(copy_order(capture, into.ref), rank);
}

}  // namespace

Ref elided_operand(Capture& capture, Op op, const Operand& left, const Operand& right, Temporaries temporaries) {
  if (!is_elidable(op)) return nullptr;
  const Operand* into = nullptr;
  if (temporaries.left && may_be_overwritten(capture, left, right))
    into = &left;
  else if (temporaries.right && commutes(op) && may_be_overwritten(capture, right, left))
    into = &right;
  if (into == nullptr || !is_seen(capture, op, *into, left, right)) return nullptr;
  return elides() && is_large(capture, *into) ? into->ref : nullptr;
}

}  // namespace accel
