#pragma once
// PyRef: an owned reference to a Python object. Requires the GIL for everything but moves.

#include <Python.h>

#include <utility>

namespace accel {

class PyRef {
 public:
  PyRef() = default;
  static PyRef steal(PyObject* object) { return PyRef(object); }  // takes a new reference (may be null)
  static PyRef borrow(PyObject* object) {
    Py_XINCREF(object);
    return PyRef(object);
  }
  PyRef(const PyRef& other) : object_(other.object_) { Py_XINCREF(object_); }
  PyRef(PyRef&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  PyRef& operator=(PyRef other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~PyRef() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }                        // borrowed
  PyObject* release() { return std::exchange(object_, nullptr); }  // new reference to the caller
  PyObject* new_reference() const {
    Py_XINCREF(object_);
    return object_;
  }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  explicit PyRef(PyObject* object) : object_(object) {}
  PyObject* object_ = nullptr;
};

}  // namespace accel
