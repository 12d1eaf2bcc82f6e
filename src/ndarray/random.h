#pragma once
// The C interface of NumPy's bit generators.

#include <Python.h>

#include <optional>
#include <span>
#include <string>

namespace accel {

// One of NumPy's own bit generators: no subclass. Its state can be read and written without running other code.
bool is_numpy_bit_generator(PyObject* object);

// The bitgen_t that NumPy's C functions draw from, for one of NumPy's bit generators: it lives as long as the object. It may be
// used without the GIL while the object's lock is held. Null, with an exception, when there is none.
void* bit_stream(PyObject* bit_generator);

// Where the next double of a stream comes from: `function(state)`.
struct DoubleSource {
  double (*function)(void*);
  void* state;
};
DoubleSource double_source(void* stream);

// The memory that the stream of one of NumPy's bit generators consists of: what is copied back takes the stream back. Nullopt,
// without an exception, when this is not known.
std::optional<std::span<char>> stream_memory(PyObject* bit_generator);

// The static library with NumPy's C functions that draw; "" when this NumPy has come without.
std::string draw_library();

}  // namespace accel
