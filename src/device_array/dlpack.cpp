#include "device_array/dlpack.h"

#include <memory>
#include <type_traits>
#include <vector>

#include "device_array/failures.h"
#include "device_array/streams.h"
#include "device_array/transfer.h"

namespace accel {

namespace dlpack {

constexpr char kinds[] = {'i', 'u', 'f', '\0', '\0', 'c', 'b'};  // by the code of a type

DataType data_type(DType dtype) {
  DataType type;
  while (kinds[type.code] != dtype_kind(dtype)) type.code++;
  type.bits = static_cast<uint8_t>(item_size(dtype) * 8);
  return type;
}

std::optional<DType> dtype_of(DataType type) {
  if (type.code >= std::size(kinds) || type.lanes != 1) return std::nullopt;
#define DTYPE(enumerator, name, kind, size, emitted) \
  if (kinds[type.code] == kind && type.bits == (size) * 8) return DType::enumerator;
#include "ir/dtype.inc"
#undef DTYPE
  return std::nullopt;
}

}  // namespace dlpack

namespace {

// What an exported tensor refers to. It holds the memory, not the array, so that it may be dropped without the GIL.
template <class Managed>
struct ExportedTensor {
  Managed managed;
  std::vector<int64_t> dims, strides;
  std::shared_ptr<DeviceBlock> block;
};

template <class Managed>
void drop_unused_capsule(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, Managed::name)) return;
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, Managed::name));
  managed->deleter(managed);
}

template <class Managed>
PyObject* new_capsule(PyObject* array, bool copied) {
  auto exported = std::make_unique<ExportedTensor<Managed>>();
  exported->dims.assign(dims_of(array).begin(), dims_of(array).end());
  for (int64_t stride : strides_of(array)) exported->strides.push_back(stride / item_size(dtype_of(array)));
  exported->block = block_of(array);
  Managed& managed = exported->managed;
  managed.tensor.data = element_count(dims_of(array)) > 0 ? data_of(array) : nullptr;
  managed.tensor.device.number = device_of(array).number();
  managed.tensor.rank = static_cast<int32_t>(exported->dims.size());
  managed.tensor.dtype = dlpack::data_type(dtype_of(array));
  managed.tensor.dims = exported->dims.data();
  managed.tensor.strides = exported->strides.data();
  managed.context = exported.get();
  managed.deleter = [](Managed* self) { delete static_cast<ExportedTensor<Managed>*>(self->context); };
  if constexpr (std::is_same_v<Managed, dlpack::VersionedTensor>) {
    managed.flags = (array_layout(array).writeable ? 0 : dlpack::read_only) | (copied ? dlpack::is_copied : 0);
  }
  PyObject* capsule = PyCapsule_New(&managed, Managed::name, drop_unused_capsule<Managed>);
  if (capsule != nullptr) exported.release();
  return capsule;
}

struct ExportOptions {
  PyObject *stream = Py_None, *max_version = Py_None, *device = Py_None, *copy = Py_None;
};

bool read_options(PyObject* arguments, PyObject* keywords, ExportOptions& out) {
  static char stream[] = "stream", version[] = "max_version", device[] = "dl_device", copy[] = "copy";
  static char* names[] = {stream, version, device, copy, nullptr};
  return PyArg_ParseTupleAndKeywords(arguments, keywords, "|$OOOO:__dlpack__", names, &out.stream, &out.max_version,
                                     &out.device, &out.copy);
}

// Integers of a pair. False with an exception.
bool read_pair(PyObject* pair, int& first, int& second) {
  PyRef tuple = PyRef::steal(PySequence_Tuple(pair));
  return tuple && PyArg_ParseTuple(tuple.get(), "ii", &first, &second);
}

// Whether strides are multiples of the size of an element, as DLPack counts in these.
bool has_whole_strides(PyObject* array) {
  for (int64_t stride : strides_of(array)) {
    if (stride % item_size(dtype_of(array)) != 0) return false;
  }
  return true;
}

PyObject* export_from_host(PyObject* array, const ExportOptions& options) {
  if (options.copy == Py_False) {
    PyErr_SetString(PyExc_BufferError, "an array in the memory of a CUDA device has to be copied for the CPU");
    return nullptr;
  }
  PyRef host = PyRef::steal(to_host(array));
  PyRef method = PyRef::steal(host ? PyObject_GetAttrString(host.get(), "__dlpack__") : nullptr);
  PyRef none = PyRef::steal(PyTuple_New(0)), keywords = PyRef::steal(PyDict_New());
  if (!method || !none || !keywords || PyDict_SetItemString(keywords.get(), "max_version", options.max_version) < 0)
    return nullptr;
  return PyObject_Call(method.get(), none.get(), keywords.get());
}

PyObject* refuse_export(const char* why) {
  PyErr_SetString(PyExc_BufferError, why);
  return nullptr;
}

// The array with all that the capsule's consumer has to wait for done before its later work.
PyObject* export_on_device(PyObject* array, const ExportOptions& options) {
  int copied = options.copy == Py_True, major = 0, minor = 0;
  if (options.max_version != Py_None && !read_pair(options.max_version, major, minor)) return nullptr;
  if (!has_whole_strides(array)) return refuse_export("DLPack has no strides that are parts of an element");
  if (major < 1 && !array_layout(array).writeable && !copied) return refuse_export("a read-only array needs DLPack 1.0");
  PyRef source = copied ? PyRef::steal(copy_on_device(array, 'K')) : PyRef::borrow(array);
  if (!source || !hand_to_stream(source.get(), options.stream)) return nullptr;
  if (major >= 1) return new_capsule<dlpack::VersionedTensor>(source.get(), copied);
  return new_capsule<dlpack::ManagedTensor>(source.get(), copied);
}

}  // namespace

PyObject* export_dlpack(PyObject* array, PyObject* arguments, PyObject* keywords) {
  ExportOptions options;
  int type = dlpack::cuda, number = device_of(array).number();
  if (!read_options(arguments, keywords, options)) return nullptr;
  if (options.device != Py_None && !read_pair(options.device, type, number)) return nullptr;
  if (type == dlpack::cpu) return export_from_host(array, options);
  if (type != dlpack::cuda || number != device_of(array).number()) {
    return refuse_export("dl_device must be the array's device or the CPU: use accel.to_device for another device");
  }
  return export_on_device(array, options);
}

PyObject* dlpack_device(PyObject* array, PyObject*) { return Py_BuildValue("(ii)", dlpack::cuda, device_of(array).number()); }

}  // namespace accel
