#include "capture/numpy/ufuncs/elision.h"

#include <algorithm>
#include <iterator>

#include "capture/protocol/arguments.h"

namespace accel {

namespace {

constexpr int64_t least_bytes = 256 * 1024;  // NPY_MIN_ELIDE_BYTES

// Whether NumPy elides temporaries on this platform. It inspects the C stack to see if the interpreter is its caller, which
// does not work everywhere, so it is tested once.
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

// Whether an array owns memory that a NumPy operation has allocated.
bool owns_memory(Capture& capture, const Ref& array) {
  const Storage& storage = *array->array.storage;
  if (storage.source >= 0 || storage.maybe || !array->array.path.empty() || !array->array.writeable) return false;
  ValueId v = storage.current;
  if (v == no_value || capture.graph().is_input(v)) return false;
  switch (op_class(capture.graph().producer(v).op)) {
    case OpClass::pointwise:
    case OpClass::reduction:
    case OpClass::scan:
    case OpClass::join:
    case OpClass::gufunc:
      return true;
    default:
      return false;
  }
}

bool may_be_overwritten(Capture& capture, const Operand& temporary, const Operand& other) {
  if (!temporary.is_array() || temporary.ref->kind != AbstractKind::array || temporary.type.dtype == DType::float16)
    return false;
  bool fits = other.shape.empty() || other.shape == temporary.shape;
  // A guard cannot decide about run-time sizes.
  bool known =
      std::none_of(temporary.shape.begin(), temporary.shape.end(), [&](Dim d) { return capture.facts().is_runtime(d); });
  return fits && known && can_cast(other.type.dtype, temporary.type.dtype, "safe") && owns_memory(capture, temporary.ref);
}

bool is_large(Capture& capture, const Operand& array) {
  DimTable& dims = capture.dims();
  Dim bytes = dims.mul(element_count(capture, array.shape), item_size(array.type.dtype));
  return capture.facts().decide(bytes, Comparison::ge, dims.constant(least_bytes));
}

// The axes from slowest to fastest, also for C order.
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
  if (!has_property(op, OpProperty::elides)) return nullptr;
  const Operand* into = nullptr;
  if (temporaries.left && may_be_overwritten(capture, left, right))
    into = &left;
  else if (temporaries.right && has_property(op, OpProperty::commutes) && may_be_overwritten(capture, right, left))
    into = &right;
  if (into == nullptr || !is_seen(capture, op, *into, left, right)) return nullptr;
  return elides() && is_large(capture, *into) ? into->ref : nullptr;
}

}  // namespace accel
