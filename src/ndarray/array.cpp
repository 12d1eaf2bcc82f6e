#include "ndarray/array.h"

#include <vector>

#include "base/memory.h"
#include "ndarray/numpy_api.h"

namespace accel {
namespace {

static_assert(max_rank == NPY_MAXDIMS);

PyArrayObject* as_array(PyObject* object) { return reinterpret_cast<PyArrayObject*>(object); }

// The builtin dtype objects; they live as long as NumPy.
const std::array<PyArray_Descr*, dtype_count>& descr_table() {
  static const auto table = [] {
    std::array<PyArray_Descr*, dtype_count> descrs;
    for (int i = 0; i < dtype_count; i++) descrs[i] = PyArray_DescrFromType(type_numbers[i]);
    return descrs;
  }();
  return table;
}

// Native, without metadata: what a loop of ours may read. Copies of a builtin dtype (unpickled ones) qualify.
bool is_plain(const PyArray_Descr* descr) { return PyArray_ISNBO(descr->byteorder) && PyDataType_METADATA(descr) == nullptr; }

// New reference. The base's own dtype object where that is equivalent, as NumPy's views have it.
PyArray_Descr* view_descr(PyArrayObject* base, DType dtype) {
  PyArray_Descr* own = PyArray_DESCR(base);
  if (own->type_num == type_numbers[static_cast<int>(dtype)]) {
    Py_INCREF(own);
    return own;
  }
  PyObject* builtin = descr_of(dtype);
  Py_INCREF(builtin);
  return reinterpret_cast<PyArray_Descr*>(builtin);
}

}  // namespace

const std::array<int, dtype_count> type_numbers = {NPY_BOOL,    NPY_INT8,    NPY_INT16,     NPY_INT32,     NPY_INT64,
                                                   NPY_UINT8,   NPY_UINT16,  NPY_UINT32,    NPY_UINT64,    NPY_FLOAT16,
                                                   NPY_FLOAT32, NPY_FLOAT64, NPY_COMPLEX64, NPY_COMPLEX128};

namespace {

// The inverse of type_numbers; -1: none.
std::array<int8_t, NPY_NTYPES_LEGACY> make_dtype_of_number() {
  std::array<int8_t, NPY_NTYPES_LEGACY> out;
  out.fill(-1);
  for (int i = 0; i < dtype_count; i++) out[static_cast<size_t>(type_numbers[i])] = static_cast<int8_t>(i);
  return out;
}

const std::array<int8_t, NPY_NTYPES_LEGACY> dtype_of_number = make_dtype_of_number();

}  // namespace

std::optional<DType> dtype_of_type_number(int number) {
  if (number < 0 || number >= NPY_NTYPES_LEGACY || dtype_of_number[static_cast<size_t>(number)] < 0) return std::nullopt;
  return static_cast<DType>(dtype_of_number[static_cast<size_t>(number)]);
}

static std::optional<DType> dtype_of_known_descr(const PyArray_Descr* descr) {
  std::optional<DType> dtype = dtype_of_type_number(descr->type_num);
  if (!dtype || (descr != descr_table()[static_cast<size_t>(*dtype)] && !is_plain(descr))) return std::nullopt;
  return dtype;
}

bool is_exact_array(PyObject* object) { return PyArray_CheckExact(object); }
bool is_array(PyObject* object) { return PyArray_Check(object); }
bool is_numpy_scalar(PyObject* object) { return PyArray_IsScalar(object, Generic); }

bool fits_in_memory(const ArrayLayout& layout) {
  bool is_repeated = false;
  double bytes = static_cast<double>(layout.item_bytes);
  for (int k = 0; k < layout.ndim; k++) {
    is_repeated |= layout.strides[k] == 0;
    bytes *= static_cast<double>(layout.dims[k]);
  }
  return !is_repeated || bytes <= static_cast<double>(physical_memory());
}

ArrayLayout array_layout(PyObject* object) {
  PyArrayObject* array = as_array(object);
  ArrayLayout layout;
  layout.descr = PyArray_DESCR(array);
  layout.item_bytes = PyArray_ITEMSIZE(array);
  layout.aligned = PyArray_ISALIGNED(array);
  layout.ndim = PyArray_NDIM(array);
  layout.dims = PyArray_DIMS(array);
  layout.strides = PyArray_STRIDES(array);
  layout.data = PyArray_BYTES(array);
  layout.c_contiguous = PyArray_IS_C_CONTIGUOUS(array);
  layout.f_contiguous = PyArray_IS_F_CONTIGUOUS(array);
  layout.writeable = PyArray_ISWRITEABLE(array);
  // NPY_ARRAY_WARN_ON_WRITE, the sign bit, has no name in the public headers.
  layout.warns_when_written = PyArray_FLAGS(array) < 0;
  layout.owns_data = PyArray_CHKFLAGS(array, NPY_ARRAY_OWNDATA);
  return layout;
}

ArrayFacts array_facts(PyObject* object) {
  ArrayFacts facts{array_layout(object), std::nullopt};
  if (facts.aligned) facts.dtype = dtype_of_known_descr(PyArray_DESCR(as_array(object)));
  return facts;
}

PyObject* descr_of(DType dtype) { return reinterpret_cast<PyObject*>(descr_table()[static_cast<int>(dtype)]); }

std::optional<DType> dtype_of_descr(PyObject* object) {
  if (!PyArray_DescrCheck(object)) return std::nullopt;
  return dtype_of_known_descr(reinterpret_cast<const PyArray_Descr*>(object));
}

void* array_data(PyObject* array) { return PyArray_DATA(as_array(array)); }

PyObject* new_array_over(DType dtype, std::span<const int64_t> dims, std::span<const int64_t> strides, const void* memory,
                         bool writeable) {
  npy_intp shape[max_rank], steps[max_rank];
  int rank = static_cast<int>(dims.size());
  for (int i = 0; i < rank; i++) shape[i] = dims[i], steps[i] = strides[i];
  PyObject* descr = descr_of(dtype);
  Py_INCREF(descr);
  return PyArray_NewFromDescr(&PyArray_Type, reinterpret_cast<PyArray_Descr*>(descr), rank, shape, steps,
                              const_cast<void*>(memory), writeable ? NPY_ARRAY_WRITEABLE : 0, nullptr);
}

PyObject* dense_copy(PyObject* array) { return PyArray_NewCopy(as_array(array), NPY_KEEPORDER); }

bool copy_elements(PyObject* to, PyObject* from) { return PyArray_CopyInto(as_array(to), as_array(from)) == 0; }

PyObject* new_view(PyObject* base, DType dtype, std::span<const int64_t> dims, std::span<const int64_t> strides,
                   int64_t offset) {
  PyArrayObject* owner = as_array(base);
  npy_intp shape[max_rank], steps[max_rank];
  int rank = static_cast<int>(dims.size());
  if (rank > max_rank) {
    PyErr_SetString(PyExc_ValueError, "maximum supported dimension for an ndarray exceeded");
    return nullptr;
  }
  for (int i = 0; i < rank; i++) shape[i] = dims[i], steps[i] = strides[i];
  PyObject* view = PyArray_NewFromDescr(&PyArray_Type, view_descr(owner, dtype), rank, shape, steps,
                                        PyArray_BYTES(owner) + offset, PyArray_FLAGS(owner), nullptr);
  if (!view) return nullptr;
  Py_INCREF(base);
  if (PyArray_SetBaseObject(as_array(view), base) < 0) {  // steals the reference, collapses chains of views
    Py_DECREF(view);
    return nullptr;
  }
  return view;
}

}  // namespace accel
