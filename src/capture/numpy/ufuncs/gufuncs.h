#pragma once
// The gufuncs of NumPy's modules.

#include <set>
#include <string>

#include "capture/context/context.h"
#include "capture/domain/call_arguments.h"

namespace accel {

// A text that an object has as an attribute; empty where it has none.
std::string text_attribute(PyObject* object, const char* name);
// The gufuncs in a module's namespace; immortal references.
std::set<PyObject*> gufuncs_of(const char* module_name);

bool is_of_fft(PyObject* ufunc);
// A call of a gufunc of numpy.fft: ufunc(a, factor, axes=[...], out=array). NumPy's Python code has made the array.
Result<Ref> fill_by_fft(Capture& capture, PyObject* ufunc, const CallArguments& arguments);

}  // namespace accel
