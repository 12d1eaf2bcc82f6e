// CUDA devices and arrays in their memory.

#include <vector>

#include "bind/bind.h"
#include "bind/convert.h"
#include "device_array/device_array.h"
#include "device_array/device_functions.h"
#include "device_array/failures.h"
#include "device_array/guests.h"
#include "device_array/transfer.h"
#include "device_array/views.h"
#include "ndarray/array.h"

namespace accel {
namespace {

// Throws the Python exception that is set when there is no object.
py::object or_throw(PyObject* object) {
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

template <class T>
T or_throw(Result<T> result) {
  if (!result) {
    raise_device_failure(result.failure());
    throw py::error_already_set();
  }
  return std::move(*result);
}

CudaDevice& device_with(int number) { return *or_throw(CudaDevice::open(number)); }

void require_device_array(py::handle object) {
  if (!is_device_array(object.ptr())) throw py::type_error("expected a DeviceArray");
}

void require_array(py::handle object) {
  if (!is_exact_array(object.ptr())) throw py::type_error("expected an ndarray");
}

py::dict memory_record(int number) {
  DeviceMemoryInfo info = device_with(number).memory_info();
  py::dict record;
  record["free"] = info.free;
  record["total"] = info.total;
  record["used"] = info.used;
  record["cached"] = info.cached;
  record["peak"] = info.peak;
  record["limit"] = info.limit;
  return record;
}

void synchronize(int number) {
  CudaDevice& device = device_with(number);
  Status status = [&] {
    py::gil_scoped_release unlocked;
    return device.wait_for_all();
  }();
  or_throw(std::move(status));
}

py::object wrap(py::handle object) {
  PyObject* made = wrap_guest(object.ptr());
  if (made == nullptr && !PyErr_Occurred()) return py::none();
  return or_throw(made);
}

py::object upload(py::handle array, int number) {
  require_array(array);
  return or_throw(to_device(array.ptr(), device_with(number)));
}

py::object rearrange(py::handle function, py::handle array, py::tuple arguments, py::dict keywords) {
  require_device_array(array);
  return or_throw(rearranged(function.ptr(), array.ptr(), arguments.ptr(), keywords.ptr()));
}

void assign_from_host(py::handle array, py::handle from) {
  require_device_array(array);
  require_array(from);
  if (!store_from_host(array.ptr(), from.ptr())) throw py::error_already_set();
}

py::object run_operation(py::handle compiled, py::list operands) {
  const size_t count = operands.size();
  std::vector<PyObject*> arguments(count);
  for (size_t k = 0; k < count; k++) arguments[k] = operands[k].ptr();
  return or_throw(run_device_function(compiled.ptr(), arguments));
}

}  // namespace

void bind_devices(py::module_& module) {
  PyTypeObject* type = device_array_type();
  if (type == nullptr) throw py::error_already_set();
  module.attr("DeviceArray") = py::handle(reinterpret_cast<PyObject*>(type));
  module.def("device_count", [] { return or_throw(CudaDevice::count()); });
  module.def("open_device", [](int number) { (void)device_with(number); });
  module.def("memory_info", memory_record);
  module.def("set_memory_limit", [](int number, int64_t bytes) { device_with(number).set_memory_limit(bytes); });
  module.def("synchronize", synchronize);
  module.def("to_device", upload);
  module.def("wrap_guest", wrap);
  module.def("rearranged", rearrange);
  module.def("assign_from_host", assign_from_host);
  module.def("run_device_function", run_operation);
  module.def("is_in_device_function", is_in_device_function);
}

}  // namespace accel
