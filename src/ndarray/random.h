#pragma once
// The C interface of NumPy's bit generators.

#include <Python.h>

namespace accel {

// Draws numbers for the Generator that has this bit generator. The functions may run without the GIL while its lock is held.
class BitStream {
 public:
  BitStream() = default;
  // bit_generator: one of NumPy's own. Its stream lives as long as it; without one, with a cleared exception, `is_open` is
  // false.
  explicit BitStream(PyObject* bit_generator);
  bool is_open() const { return bits_ != nullptr; }
  double next_double() const;  // what Generator.random() gives

 private:
  void* bits_ = nullptr;
};

}  // namespace accel
