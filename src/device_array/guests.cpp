#include "device_array/guests.h"

#include "cpython/imported.h"
#include "device_array/dlpack.h"
#include "device_array/failures.h"
#include "device_array/object.h"
#include "device_array/streams.h"

namespace accel {
namespace {

// Names of protocols.
struct ProtocolNames {
  PyObject* dlpack = PyUnicode_InternFromString("__dlpack__");
  PyObject* dlpack_device = PyUnicode_InternFromString("__dlpack_device__");
  PyObject* interface = PyUnicode_InternFromString("__cuda_array_interface__");
};
const ProtocolNames& protocol_names() {
  static const ProtocolNames names;
  return names;
}

bool type_has(PyObject* object, PyObject* name) { return _PyType_Lookup(Py_TYPE(object), name) != nullptr; }
bool has_dlpack(PyObject* object) {
  return type_has(object, protocol_names().dlpack) && type_has(object, protocol_names().dlpack_device);
}
bool has_interface(PyObject* object) { return type_has(object, protocol_names().interface); }

PyObject* wrap_memory(DType dtype, std::span<const int64_t> dims, std::span<const int64_t> strides, CudaDevice& device,
                      char* data, std::shared_ptr<void> owner, bool writeable) {
  auto block = std::make_shared<DeviceBlock>();
  block->device = &device;
  block->data = data;
  block->bytes = element_count(dims) * item_size(dtype);
  block->guest = std::move(owner);
  return new_device_array(dtype, dims, strides, std::move(block), data, writeable);
}

PyObject* refuse_guest(const char* what) {
  return raise_unsupported_on_device(Reason::unsupported_dtype, what, reason_info(Reason::unsupported_dtype).way_out);
}

// ---- DLPack

template <class Managed>
PyObject* wrap_capsule(PyObject* capsule, bool writeable) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, Managed::name));
  if (managed == nullptr || PyCapsule_SetName(capsule, Managed::used_name) < 0) return nullptr;
  std::shared_ptr<void> owner(managed, [](void* memory) {
    auto* self = static_cast<Managed*>(memory);
    if (self->deleter != nullptr) self->deleter(self);
  });
  const dlpack::Tensor& tensor = managed->tensor;
  std::optional<DType> dtype = dlpack::dtype_of(tensor.dtype);
  if (!dtype) return refuse_guest("the array has a dtype that NumPy does not have");
  Result<CudaDevice*> device = CudaDevice::open(tensor.device.number);
  if (!device) return raise_device_failure(device.failure());
  std::span<const int64_t> dims{tensor.dims, static_cast<size_t>(tensor.rank)};
  std::vector<int64_t> strides = dense_strides(*dtype, dims, {});
  for (size_t i = 0; tensor.strides != nullptr && i < strides.size(); i++) strides[i] = tensor.strides[i] * item_size(*dtype);
  char* data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  return wrap_memory(*dtype, dims, strides, **device, data, std::move(owner), writeable);
}

// The capsule of an object on a device. Producers before DLPack 1.0 do not know `max_version`.
PyRef capsule_of(PyObject* object, CudaDevice& device) {
  PyRef method = PyRef::steal(PyObject_GetAttrString(object, "__dlpack__"));
  PyRef none = PyRef::steal(PyTuple_New(0)), stream = PyRef::steal(stream_number(device));
  PyRef keywords = PyRef::steal(stream ? Py_BuildValue("{s:O,s:(ii)}", "stream", stream.get(), "max_version", 1, 0) : nullptr);
  if (!method || !none || !keywords) return {};
  PyRef capsule = PyRef::steal(PyObject_Call(method.get(), none.get(), keywords.get()));
  if (capsule || !PyErr_ExceptionMatches(PyExc_TypeError)) return capsule;
  PyErr_Clear();
  if (PyDict_DelItemString(keywords.get(), "max_version") < 0) return {};
  return PyRef::steal(PyObject_Call(method.get(), none.get(), keywords.get()));
}

// Null without an exception when the object is on no CUDA device.
PyObject* wrap_dlpack(PyObject* object) {
  PyRef place = PyRef::steal(PyObject_CallMethod(object, "__dlpack_device__", nullptr));
  int type = 0, number = 0;
  if (!place || !PyArg_ParseTuple(place.get(), "ii", &type, &number)) {
    if (PyErr_ExceptionMatches(PyExc_Exception)) PyErr_Clear();  // such as sparse arrays, which DLPack has no form for
    return nullptr;
  }
  if (type != dlpack::cuda && type != dlpack::cuda_managed) return nullptr;
  Result<CudaDevice*> device = CudaDevice::open(number);
  if (!device) return raise_device_failure(device.failure());
  PyRef capsule = capsule_of(object, **device);
  if (!capsule) return nullptr;
  if (!PyCapsule_IsValid(capsule.get(), dlpack::VersionedTensor::name)) {
    return wrap_capsule<dlpack::ManagedTensor>(capsule.get(), true);
  }
  auto* managed = static_cast<dlpack::VersionedTensor*>(PyCapsule_GetPointer(capsule.get(), dlpack::VersionedTensor::name));
  if (managed->version.major > 1) {
    PyErr_SetString(PyExc_BufferError, "the object speaks a version of DLPack after 1");
    return nullptr;
  }
  return wrap_capsule<dlpack::VersionedTensor>(capsule.get(), (managed->flags & dlpack::read_only) == 0);
}

// ---- __cuda_array_interface__

// Keeps an object alive; may be dropped by any thread.
std::shared_ptr<void> keep_object(PyObject* object) {
  return {Py_NewRef(object), [](void* held) {
            if (!Py_IsInitialized()) return;
            PyGILState_STATE state = PyGILState_Ensure();
            Py_DECREF(static_cast<PyObject*>(held));
            PyGILState_Release(state);
          }};
}

// Integers of a tuple. False with an exception.
bool read_extents(PyObject* object, std::vector<int64_t>& out) {
  PyRef tuple = PyRef::steal(PySequence_Tuple(object));
  for (Py_ssize_t i = 0; tuple && i < PyTuple_GET_SIZE(tuple.get()); i++) {
    out.push_back(PyLong_AsLongLong(PyTuple_GET_ITEM(tuple.get(), i)));
  }
  return tuple && !PyErr_Occurred();
}

std::optional<DType> dtype_of_text(PyObject* text) {
  PyRef make = imported_attribute("numpy", "dtype");
  PyRef descr = PyRef::steal(make && text != nullptr ? PyObject_CallOneArg(make.get(), text) : nullptr);
  return descr ? dtype_of_descr(descr.get()) : std::nullopt;
}

// The interface does not say on which device the memory is: what the object's own attribute says, 0 by default.
int device_number(PyObject* object) {
  PyRef device = PyRef::steal(PyObject_GetAttrString(object, "device"));
  PyRef number = PyRef::steal(device ? PyObject_GetAttrString(device.get(), "id") : nullptr);
  long found = number ? PyLong_AsLong(number.get()) : 0;
  PyErr_Clear();
  return found > 0 ? static_cast<int>(found) : 0;
}

PyObject* wrap_interface(PyObject* object) {
  PyRef record = PyRef::steal(PyObject_GetAttrString(object, "__cuda_array_interface__"));
  if (!record || !PyDict_Check(record.get())) return nullptr;
  auto entry = [&](const char* name) { return PyDict_GetItemString(record.get(), name); };
  std::optional<DType> dtype = dtype_of_text(entry("typestr"));
  if (PyErr_Occurred()) return nullptr;
  if (!dtype) return refuse_guest("the array has a dtype that devices do not have");
  unsigned long long address = 0;
  int is_read_only = 0;
  if (!entry("data") || !entry("shape") || !PyArg_ParseTuple(entry("data"), "Kp", &address, &is_read_only)) return nullptr;
  std::vector<int64_t> dims, strides;
  if (!read_extents(entry("shape"), dims)) return nullptr;
  bool is_strided = entry("strides") != nullptr && entry("strides") != Py_None;
  if (is_strided && !read_extents(entry("strides"), strides)) return nullptr;
  if (!is_strided) strides = dense_strides(*dtype, dims, {});
  Result<CudaDevice*> device = CudaDevice::open(device_number(object));
  if (!device) return raise_device_failure(device.failure());
  if (entry("stream") != nullptr && !wait_for_stream(**device, entry("stream"))) return nullptr;
  return wrap_memory(*dtype, dims, strides, **device, reinterpret_cast<char*>(address), keep_object(object), is_read_only == 0);
}

}  // namespace

bool may_be_guest(PyObject* object) {
  if (is_exact_array(object) || PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyUnicode_CheckExact(object))
    return false;
  if (PyType_Check(object) || is_array(object) || is_numpy_scalar(object) || is_device_array(object)) return false;
  return has_dlpack(object) || has_interface(object);
}

PyObject* wrap_guest(PyObject* object) {
  if (!may_be_guest(object)) return nullptr;
  return has_dlpack(object) ? wrap_dlpack(object) : wrap_interface(object);
}

bool order_guest_after(PyObject* guest, PyObject* array, bool is_unwrapped) {
  if (has_dlpack(guest)) {
    if (is_unwrapped) return true;
    PyRef kind = PyRef::borrow(reinterpret_cast<PyObject*>(Py_TYPE(guest)));
    return static_cast<bool>(PyRef::steal(unwrap_as(kind.get(), array)));
  }
  PyRef record = PyRef::steal(PyObject_GetAttr(guest, protocol_names().interface));
  if (!record || !PyDict_Check(record.get())) return static_cast<bool>(record);
  PyObject* stream = PyDict_GetItemString(record.get(), "stream");
  return stream == nullptr || stream == Py_None || hand_to_stream(array, stream);
}

PyObject* unwrap_as(PyObject* guest_type, PyObject* device_array) {
  PyRef convert = PyRef::steal(PyImport_ImportModule("accel._device"));
  return convert ? PyObject_CallMethod(convert.get(), "_as_guest", "OO", guest_type, device_array) : nullptr;
}

PyObject* cuda_array_interface(PyObject* array) {
  PyRef shape = PyRef::steal(PyObject_GetAttrString(array, "shape")), strides = PyRef::borrow(Py_None);
  PyRef typestr = PyRef::steal(PyObject_GetAttrString(as_device(array)->fields.descr, "str"));
  ArrayLayout layout = array_layout(array);
  if (!layout.c_contiguous) strides = PyRef::steal(PyObject_GetAttrString(array, "strides"));
  PyRef stream = PyRef::steal(stream_number(device_of(array)));
  if (!shape || !strides || !typestr || !stream) return nullptr;
  auto address = element_count(dims_of(array)) > 0 ? reinterpret_cast<unsigned long long>(layout.data) : 0ull;
  return Py_BuildValue("{s:O,s:O,s:(KO),s:O,s:i,s:O}", "shape", shape.get(), "typestr", typestr.get(), "data", address,
                       layout.writeable ? Py_False : Py_True, "strides", strides.get(), "version", 3, "stream", stream.get());
}

}  // namespace accel
