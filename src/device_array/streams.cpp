#include "device_array/streams.h"

#include "device_array/failures.h"
#include "device_array/object.h"

namespace accel {
namespace {

// The driver takes the numbers 1 and 2 as handles of the default streams. The legacy one has the handle 0, too: that is taken.
CudaStream stream_of_number(long long number) { return number == 1 ? nullptr : reinterpret_cast<CudaStream>(number); }
CudaStream current_stream(CudaDevice& device) { return stream_of_number(reinterpret_cast<intptr_t>(device.stream())); }

bool reports(Status status) {
  if (!status) raise_device_failure(status.failure());
  return status.ok();
}

// False with an exception.
bool read_stream(PyObject* object, long long& number) {
  number = PyLong_AsLongLong(object);
  if (number == -1 && PyErr_Occurred()) return false;
  if (number != 0) return true;
  PyErr_SetString(PyExc_ValueError, "stream 0 is ambiguous: use 1 for the legacy default stream, 2 for that of the thread");
  return false;
}

}  // namespace

PyObject* stream_number(CudaDevice& device) {
  CudaStream stream = current_stream(device);
  return stream == nullptr ? PyLong_FromLong(1) : PyLong_FromVoidPtr(stream);
}

bool hand_to_stream(PyObject* array, PyObject* stream) {
  long long number = 1;
  if (stream != Py_None && !read_stream(stream, number)) return false;
  CudaDevice& device = device_of(array);
  CudaStream own = current_stream(device), other = stream_of_number(number);
  if (number == -1 || own == other) return true;
  if (block_of(array)->guest == nullptr) device.use(block_of(array)->data, other);
  StreamScope scope(device, other);
  return reports(device.order_after(own));
}

bool wait_for_stream(CudaDevice& device, PyObject* stream) {
  long long number = 0;
  if (stream == Py_None) return true;
  if (!read_stream(stream, number)) return false;
  CudaStream other = stream_of_number(number);
  return other == current_stream(device) || reports(device.order_after(other));
}

}  // namespace accel
