#pragma once
// GuestArguments: arguments of a call that are arrays of other libraries on a CUDA device (device_array/guests.h). The call
// gets DeviceArrays over the same memory for them, and its results become arrays of the first guest's kind. Requires the GIL.

#include <Python.h>

#include <unordered_map>
#include <vector>

#include "cpython/py_ref.h"

namespace accel {

class GuestArguments {
 public:
  // Finds the guests among arguments as a vectorcall passes them, also in exact lists, tuples and dicts. Guests that cannot be
  // taken stay as they are. False with an exception.
  bool take(PyObject* const* args, Py_ssize_t count);
  bool are_found() const { return first_kind_ != nullptr; }
  // The arguments for the call; valid as long as this.
  PyObject* const* args() const { return args_.data(); }

  // The result of the call (stolen; null: it raised) with arrays of the first guest's kind in place of DeviceArrays, and
  // arguments in place of what stood for them. Later work of the guests' libraries comes after that of the call. New reference
  // or null with an exception.
  PyObject* give_back(PyObject* result);

 private:
  bool has_guest(PyObject* object, int depth) const;
  PyRef substitute(PyObject* object, int depth);
  PyRef substitute_guest(PyObject* object);
  PyRef substitute_list(PyObject* list, int depth);
  PyRef substitute_tuple(PyObject* tuple, int depth);
  PyRef substitute_dict(PyObject* dict, int depth);
  void note(PyObject* original, PyObject* standing_in);

  PyRef returned(PyObject* object, int depth);
  PyRef returned_list(PyObject* list, int depth);
  PyRef returned_tuple(PyObject* tuple, int depth);
  PyRef returned_dict(PyObject* dict, int depth);
  bool give_back_containers();
  bool give_back_list(PyObject* original, PyObject* standing_in);
  bool give_back_dict(PyObject* original, PyObject* standing_in);
  bool order_guests();

  std::vector<PyRef> held_;  // the arguments of the call, and all that the maps name
  std::vector<PyObject*> args_;
  std::unordered_map<PyObject*, PyObject*> by_original_, by_substitute_;
  std::vector<std::pair<PyObject*, PyObject*>> guests_;      // guest, DeviceArray
  std::vector<std::pair<PyObject*, PyObject*>> containers_;  // of the caller and of the call: lists and dicts
  PyObject* first_kind_ = nullptr;
  bool gives_guests_ = false;  // an array was made for the guest's library, which orders its work
};

}  // namespace accel
