// NumPy's ufunc objects and their type rules.

#include <array>
#include <string_view>
#include <unordered_map>

#include "ndarray/array.h"
#include "ndarray/loops.h"
#include "ndarray/numpy_api.h"
#include "ndarray/resolved_types.h"

namespace accel {
namespace {

std::vector<PyObject*>& ufunc_table() {
  static std::vector<PyObject*> table(op_count(), nullptr);
  return table;
}

std::unordered_map<PyObject*, Op>& op_table() {
  static std::unordered_map<PyObject*, Op> table;
  return table;
}

// The Python object that represents an operand in resolve_dtypes. Where the casting rule forbids every conversion, a Python
// number counts as an array of its own dtype; resolve_dtypes of NumPy 2.4 crashes when it is asked with the number's type.
PyRef type_argument(const OperandType& operand, bool may_convert) {
  auto number = [&](PyTypeObject& type, DType own) {
    return PyRef::borrow(may_convert ? reinterpret_cast<PyObject*>(&type) : descr_of(own));
  };
  switch (operand.kind) {
    case OperandType::Kind::py_bool:
      return PyRef::borrow(descr_of(DType::bool_));
    case OperandType::Kind::py_int:
      return number(PyLong_Type, DType::int64);
    case OperandType::Kind::py_float:
      return number(PyFloat_Type, DType::float64);
    case OperandType::Kind::py_complex:
      return number(PyComplex_Type, DType::complex128);
    default:
      return PyRef::borrow(descr_of(operand.dtype));
  }
}

// The pending exception as one line; clears it.
std::string take_error_text() {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyRef owned[3] = {PyRef::steal(type), PyRef::steal(value), PyRef::steal(traceback)};
  PyRef text = PyRef::steal(value ? PyObject_Str(value) : nullptr);
  const char* chars = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  PyErr_Clear();
  return chars ? chars : "NumPy raised an exception";
}

// The `signature` argument: `dtype` fixes the results of a call, the first operand of a reduction.
PyRef signature_argument(PyUFuncObject* ufunc, PyObject* dtype, bool reduction) {
  PyRef signature = PyRef::steal(PyTuple_New(ufunc->nargs));
  for (int i = 0; signature && i < ufunc->nargs; i++) {
    bool fixed = reduction ? i == 0 : i >= ufunc->nin;
    PyTuple_SET_ITEM(signature.get(), i, Py_NewRef(fixed ? dtype : Py_None));
  }
  return signature;
}

}  // namespace

bool import_ufuncs() {
  PyRef umath = PyRef::steal(PyImport_ImportModule("numpy._core.umath"));
  PyRef linalg = PyRef::steal(umath ? PyImport_ImportModule("numpy.linalg._umath_linalg") : nullptr);
  if (!linalg) return false;
  for (int i = 0; i < op_count(); i++) {
    Op op = static_cast<Op>(i);
    const char* name = op_info(op).name;
    bool has_it = PyObject_HasAttrString(umath.get(), name) || op_class(op) != OpClass::gufunc;
    PyRef ufunc = PyRef::steal(PyObject_GetAttrString((has_it ? umath : linalg).get(), name));
    if (!ufunc) PyErr_Clear();
    if (!ufunc || !PyObject_TypeCheck(ufunc.get(), &PyUFunc_Type)) continue;
    ufunc_table()[i] = ufunc.get();
    op_table()[ufunc.release()] = op;  // never released
  }
  return true;
}

PyObject* ufunc_of(Op op) { return ufunc_table()[static_cast<int>(op)]; }

std::optional<Op> op_of_ufunc(PyObject* object) {
  auto found = op_table().find(object);
  if (found == op_table().end()) return std::nullopt;
  return found->second;
}

Result<std::vector<DType>> read_resolved_types(PyObject* tuple, int operands) {
  std::vector<DType> dtypes;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
    PyObject* descr = PyTuple_GET_ITEM(tuple, i);
    std::optional<DType> dtype = dtype_of_descr(descr);
    if (!dtype && i < operands && PyArray_DescrCheck(descr)) {
      int number = reinterpret_cast<PyArray_Descr*>(descr)->type_num;
      if (number == NPY_LONGLONG) dtype = DType::int64;
      if (number == NPY_ULONGLONG) dtype = DType::uint64;
    }
    if (!dtype) return fail(Reason::unsupported_dtype, "NumPy's loop uses a dtype that accel does not compile");
    dtypes.push_back(*dtype);
  }
  return dtypes;
}

Result<std::vector<DType>> resolve_dtypes(PyObject* object, std::span<const OperandType> operands, PyObject* dtype,
                                          bool reduction, const char* casting) {
  auto* ufunc = reinterpret_cast<PyUFuncObject*>(object);
  PyRef types = PyRef::steal(PyTuple_New(ufunc->nargs));
  if (!types) return fail(Reason::internal_error, take_error_text());
  const std::string_view rule_name = casting ? casting : "same_kind";
  const bool may_convert = rule_name != "no" && rule_name != "equiv";
  for (int i = 0; i < ufunc->nargs; i++) {
    // A reduction passes (out or None, operand, None).
    size_t index = reduction ? 1 - i : i;
    bool given = reduction ? i < 2 && index < operands.size() : index < operands.size();
    PyTuple_SET_ITEM(types.get(), i, given ? type_argument(operands[index], may_convert).release() : Py_NewRef(Py_None));
  }
  PyRef method = PyRef::steal(PyObject_GetAttrString(object, "resolve_dtypes"));
  PyRef arguments = PyRef::steal(PyTuple_Pack(1, types.get()));
  PyRef keywords = PyRef::steal(PyDict_New());
  if (!method || !arguments || !keywords) return fail(Reason::internal_error, take_error_text());
  if (reduction) PyDict_SetItemString(keywords.get(), "reduction", Py_True);
  PyRef rule = PyRef::steal(casting ? PyUnicode_FromString(casting) : nullptr);
  if (rule) PyDict_SetItemString(keywords.get(), "casting", rule.get());
  if (dtype) PyDict_SetItemString(keywords.get(), "signature", signature_argument(ufunc, dtype, reduction).get());
  PyRef resolved = PyRef::steal(PyObject_Call(method.get(), arguments.get(), keywords.get()));
  if (!resolved) return fail(Reason::will_raise, take_error_text());
  return read_resolved_types(resolved.get(), reduction ? 2 : ufunc->nin);
}

}  // namespace accel
