#include "dispatch/calls/observed_results.h"

#include <algorithm>
#include <vector>

#include "capture/context/value_factory.h"
#include "cpython/weak_references.h"
#include "guard/memory_order.h"
#include "ndarray/array.h"

namespace accel {

bool is_array_of(PyObject* object, const Type& type) {
  if (!is_exact_array(object) || Py_REFCNT(object) != 1 || has_weak_reference(object)) return false;
  ArrayFacts facts = array_facts(object);
  return facts.dtype == type.dtype && facts.ndim == type.rank() && facts.owns_data && facts.writeable &&
         is_gapless(facts.ndim, facts.dims, facts.strides, type.axis_order().data(), item_size(type.dtype));
}

bool read_number(PyObject* object, const Type& type, uint64_t bits[2]) {
  bool python = type.kind == ValueKind::py_scalar;
  bool has_type = python ? Py_IS_TYPE(object, python_type_of(type.dtype)) : dtype_of_scalar(object) == type.dtype;
  return has_type && read_scalar(object, type.dtype, bits);
}

bool is_number_of(PyObject* object, const Type& type) {
  uint64_t bits[2] = {0, 0};
  return read_number(object, type, bits);
}

SeenResult seen_result_of(PyObject* object) {
  SeenResult seen;
  if (object == Py_None) {
    seen.kind = ResultKind::none;
    return seen;
  }
  if (is_exact_array(object)) {
    ArrayFacts facts = array_facts(object);
    if (!is_supported(facts)) return seen;
    std::vector<uint8_t> order(static_cast<size_t>(facts.ndim));
    if (!dense_order(facts.ndim, facts.dims, facts.strides, item_size(*facts.dtype), order.data())) {
      memory_order(facts.ndim, facts.dims, facts.strides, order.data());
      if (facts.c_contiguous) order.clear();
    }
    if (std::is_sorted(order.begin(), order.end())) order.clear();
    seen.type = {ValueKind::array, *facts.dtype, std::vector<Dim>(static_cast<size_t>(facts.ndim)), order};
    if (is_array_of(object, seen.type)) seen.kind = ResultKind::array;
    return seen;
  }
  for (DType dtype : {DType::bool_, DType::int64, DType::float64, DType::complex128}) {
    Type type{ValueKind::py_scalar, dtype, {}, {}};
    if (is_number_of(object, type)) return {ResultKind::number, type};
  }
  std::optional<DType> dtype = is_numpy_scalar(object) ? dtype_of_scalar(object) : std::nullopt;
  if (dtype) return {ResultKind::number, {ValueKind::numpy_scalar, *dtype, {}, {}}};
  seen.kind = ResultKind::object;
  seen.object_type = PyRef::borrow(reinterpret_cast<PyObject*>(Py_TYPE(object)));
  return seen;
}

}  // namespace accel
