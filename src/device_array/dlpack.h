#pragma once
// The structures of DLPack 1.0 (https://dmlc.github.io/dlpack): their layout is fixed by its ABI. The export of arrays.

#include <Python.h>

#include <cstdint>
#include <optional>

#include "ir/dtype.h"

namespace accel::dlpack {

struct Version {
  uint32_t major = 1, minor = 0;
};

constexpr int32_t cpu = 1, cuda = 2, cuda_managed = 13;  // types of devices
struct Device {
  int32_t type = cuda, number = 0;
};

struct DataType {
  uint8_t code = 0, bits = 0;
  uint16_t lanes = 1;
};

struct Tensor {
  void* data = nullptr;
  Device device;
  int32_t rank = 0;
  DataType dtype;
  int64_t* dims = nullptr;
  int64_t* strides = nullptr;  // in elements; null: C order
  uint64_t byte_offset = 0;
};

constexpr uint64_t read_only = 1, is_copied = 2;  // flags

struct ManagedTensor {
  static constexpr const char* name = "dltensor";
  static constexpr const char* used_name = "used_dltensor";
  Tensor tensor;
  void* context = nullptr;
  void (*deleter)(ManagedTensor*) = nullptr;
};

struct VersionedTensor {
  static constexpr const char* name = "dltensor_versioned";
  static constexpr const char* used_name = "used_dltensor_versioned";
  Version version;
  void* context = nullptr;
  void (*deleter)(VersionedTensor*) = nullptr;
  uint64_t flags = 0;
  Tensor tensor;
};

DataType data_type(DType dtype);
std::optional<DType> dtype_of(DataType type);

}  // namespace accel::dlpack

namespace accel {

// DeviceArray.__dlpack__ and __dlpack_device__. Require the GIL.
PyObject* export_dlpack(PyObject* array, PyObject* arguments, PyObject* keywords);
PyObject* dlpack_device(PyObject* array, PyObject*);

}  // namespace accel
