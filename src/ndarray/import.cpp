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

}  // namespace

bool import_numpy() {
  static bool imported = false;
  if (!imported) imported = import_tables() && check_version() && import_ufuncs();
  return imported;
}

int numpy_minor() { return minor_version; }

}  // namespace accel
