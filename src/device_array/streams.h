#pragma once
// Streams as DLPack and __cuda_array_interface__ write them: None, 1 (legacy default), 2 (per-thread default) or a handle.
// Requires the GIL.

#include <Python.h>

#include "runtime/cuda/device.h"

namespace accel {

// The current stream of the device as an integer. New reference.
PyObject* stream_number(CudaDevice& device);
// Work that a consumer gives to its stream from now on comes after the work of the current stream, and the memory is not reused
// before it. -1: the consumer takes care of it. False with an exception.
bool hand_to_stream(PyObject* device_array, PyObject* stream);
// Work of the current stream comes after that of the producer's stream; None: there is nothing to wait for. False with an
// exception.
bool wait_for_stream(CudaDevice& device, PyObject* stream);

}  // namespace accel
