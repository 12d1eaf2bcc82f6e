// The one file that holds NumPy's API tables.
#define ACCEL_OWNS_NUMPY_API
#include <cstdio>

#include "ndarray/array.h"
#include "ndarray/loops.h"
#include "ndarray/numpy_api.h"

namespace accel {
namespace {

bool import_tables() {
  if (PyArray_ImportNumPyAPI() < 0) return false;
  if (PyUFunc_ImportUFuncAPI() < 0) return false;
  return true;
}

int minor_version = 0;

// 2.3 changed the order in which sums are added up.
bool check_version() {
  PyRef numpy = PyRef::steal(PyImport_ImportModule("numpy"));
  if (!numpy) return false;
  PyRef version = PyRef::steal(PyObject_GetAttrString(numpy.get(), "__version__"));
  if (!version) return false;
  const char* text = PyUnicode_AsUTF8(version.get());
  if (!text) return false;
  int major = 0;
  if (std::sscanf(text, "%d.%d", &major, &minor_version) == 2 && major == 2 && minor_version >= 3) return true;
  PyErr_Format(PyExc_ImportError, "accel needs NumPy 2.3 or later, found %s", text);
  return false;
}

bool contracts = true;

// Multiplies numbers whose real part is 0 unless the product of the real parts goes into the sum unrounded.
bool try_product() {
  npy_intp length = 8;
  PyRef a = PyRef::steal(PyArray_SimpleNew(1, &length, NPY_CDOUBLE)),
        b = PyRef::steal(PyArray_SimpleNew(1, &length, NPY_CDOUBLE));
  if (!a || !b) return false;
  for (npy_intp k = 0; k < length; ++k) {
    double* x = static_cast<double*>(PyArray_GETPTR1(reinterpret_cast<PyArrayObject*>(a.get()), k));
    double* y = static_cast<double*>(PyArray_GETPTR1(reinterpret_cast<PyArrayObject*>(b.get()), k));
    x[0] = y[0] = 1 + 0x1p-27;
    x[1] = 1 + 0x1p-26;
    y[1] = 1;
  }
  PyRef product = PyRef::steal(PyNumber_Multiply(a.get(), b.get()));
  if (!product) return false;
  contracts = static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(product.get())))[0] != 0;
  return true;
}

}  // namespace

bool import_numpy() {
  static bool imported = false;
  if (!imported) imported = import_tables() && check_version() && import_ufuncs() && try_product();
  return imported;
}

int numpy_minor() { return minor_version; }

bool contracts_products() { return contracts; }

}  // namespace accel
