#include "ndarray/random.h"

#include <numpy/random/bitgen.h>

#include <algorithm>
#include <vector>

#include "cpython/imported.h"
#include "cpython/py_ref.h"

namespace accel {
namespace {

// A type of bit generators: its objects hold the stream after the part that all bit generators share.
struct StreamType {
  PyTypeObject* type;
  size_t begin, size;
  bool is_whole = false;  // whether these bytes are all that a stream consists of
};

std::span<char> memory_of(PyObject* object, const StreamType& stream) {
  return {reinterpret_cast<char*>(object) + stream.begin, stream.size};
}

// Numbers that depend on every part of the state: buffered halves, and blocks of numbers made in advance.
std::vector<double> some_numbers(bitgen_t* bits) {
  std::vector<double> out;
  for (int k = 0; k < 700; ++k) {
    out.push_back(bits->next_uint32(bits->state));
    if (k % 3 == 0) out.push_back(bits->next_double(bits->state));
  }
  return out;
}

// Whether a stream whose memory is restored repeats its numbers, found out by a trial.
bool can_take_back(const StreamType& stream) {
  PyRef object = PyRef::steal(PyObject_CallFunction(reinterpret_cast<PyObject*>(stream.type), "i", 1));
  auto* bits = static_cast<bitgen_t*>(object ? bit_stream(object.get()) : nullptr);
  if (bits == nullptr) return false;
  bits->next_uint32(bits->state);
  std::span<char> memory = memory_of(object.get(), stream);
  std::vector<char> saved(memory.begin(), memory.end());
  std::vector<double> first = some_numbers(bits);
  std::copy(saved.begin(), saved.end(), memory.begin());
  return first == some_numbers(bits);
}

std::vector<StreamType> find_types() {
  std::vector<StreamType> out;
  for (const char* name : {"PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"}) {
    PyObject* found = imported_attribute("numpy.random", name).release();
    if (found == nullptr || !PyType_Check(found)) continue;
    auto* type = reinterpret_cast<PyTypeObject*>(found);
    auto begin = static_cast<size_t>(type->tp_base->tp_basicsize), end = static_cast<size_t>(type->tp_basicsize);
    bool plain = type->tp_itemsize == 0 && type->tp_dictoffset == 0 && type->tp_weaklistoffset == 0 && begin <= end;
    out.push_back({type, begin, plain ? end - begin : 0});
    out.back().is_whole = plain && can_take_back(out.back());
    PyErr_Clear();
  }
  return out;
}

const StreamType* stream_type(PyObject* object) {
  static const std::vector<StreamType> types = find_types();
  for (const StreamType& stream : types) {
    if (Py_TYPE(object) == stream.type) return &stream;
  }
  return nullptr;
}

}  // namespace

bool is_numpy_bit_generator(PyObject* object) { return stream_type(object) != nullptr; }

void* bit_stream(PyObject* bit_generator) {
  static PyObject* const name = PyUnicode_InternFromString("capsule");
  PyRef capsule = PyRef::steal(PyObject_GetAttr(bit_generator, name));
  return capsule ? PyCapsule_GetPointer(capsule.get(), "BitGenerator") : nullptr;
}

DoubleSource double_source(void* stream) {
  const auto* bits = static_cast<const bitgen_t*>(stream);
  return {bits->next_double, bits->state};
}

std::optional<std::span<char>> stream_memory(PyObject* bit_generator) {
  const StreamType* stream = stream_type(bit_generator);
  if (stream == nullptr || !stream->is_whole) return std::nullopt;
  return memory_of(bit_generator, *stream);
}

std::string draw_library() {
  PyRef file = imported_attribute("numpy.random", "__file__");
  const char* text = file && PyUnicode_Check(file.get()) ? PyUnicode_AsUTF8(file.get()) : nullptr;
  std::string path = text != nullptr ? text : "";
  PyErr_Clear();
  size_t end = path.rfind('/');
  return end == std::string::npos ? "" : path.substr(0, end) + "/lib/libnpyrandom.a";
}

}  // namespace accel
