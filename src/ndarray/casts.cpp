#include "ndarray/casts.h"

#include <cstring>

#include "cpython/imported.h"
#include "ndarray/array.h"
#include "ndarray/numpy_api.h"

namespace accel {
namespace {

constexpr struct {
  const char* name;
  NPY_CASTING rule;
} casting_rules[] = {{"no", NPY_NO_CASTING},
                     {"equiv", NPY_EQUIV_CASTING},
                     {"safe", NPY_SAFE_CASTING},
                     {"same_kind", NPY_SAME_KIND_CASTING},
                     {"unsafe", NPY_UNSAFE_CASTING}};

// A value of the operand's kind for np.result_type, which takes weak Python scalars as values. New reference.
PyRef promotion_argument(const OperandType& operand) {
  switch (operand.kind) {
    case OperandType::Kind::py_int:
      return PyRef::steal(PyLong_FromLong(0));
    case OperandType::Kind::py_float:
      return PyRef::steal(PyFloat_FromDouble(0));
    case OperandType::Kind::py_complex:
      return PyRef::steal(PyComplex_FromDoubles(0, 0));
    case OperandType::Kind::py_bool:
      return PyRef::borrow(descr_of(DType::bool_));
    default:
      return PyRef::borrow(descr_of(operand.dtype));
  }
}

}  // namespace

bool is_dtype_object(PyObject* object) { return PyArray_DescrCheck(object); }
bool is_numpy_scalar_type(PyTypeObject* type) { return PyType_IsSubtype(type, &PyGenericArrType_Type); }

PyObject* new_descr(PyObject* spec) {
  PyArray_Descr* descr = nullptr;
  if (PyArray_DescrConverter(spec, &descr) != NPY_SUCCEED) return nullptr;
  return reinterpret_cast<PyObject*>(descr);
}

bool numpy_can_cast(DType from, DType to, const char* casting) {
  for (const auto& row : casting_rules) {
    if (std::strcmp(row.name, casting) != 0) continue;
    return PyArray_CanCastTypeTo(reinterpret_cast<PyArray_Descr*>(descr_of(from)),
                                 reinterpret_cast<PyArray_Descr*>(descr_of(to)), row.rule);
  }
  return false;
}

Result<DType> numpy_result_type(std::span<const OperandType> operands) {
  static PyObject* function = imported_attribute("numpy", "result_type").release();
  PyRef arguments = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(operands.size())));
  if (!function || !arguments) {
    PyErr_Clear();
    return fail(Reason::internal_error, "numpy.result_type cannot be called");
  }
  for (size_t k = 0; k < operands.size(); k++) {
    PyTuple_SET_ITEM(arguments.get(), static_cast<Py_ssize_t>(k), promotion_argument(operands[k]).release());
  }
  PyRef descr = PyRef::steal(PyObject_CallObject(function, arguments.get()));
  if (!descr) {
    PyErr_Clear();
    return fail(Reason::will_raise, "the dtypes have no common dtype");
  }
  auto dtype = dtype_of_descr(descr.get());
  if (!dtype) return fail(Reason::unsupported_dtype, "the common dtype has no compiled form");
  return *dtype;
}

}  // namespace accel
