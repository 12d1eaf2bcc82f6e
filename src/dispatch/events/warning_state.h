#pragma once
// What becomes of a RuntimeWarning now: the filters, hooks and registries of the module `warnings`.

#include <Python.h>

#include <cstdint>

namespace accel {

enum class Hearing : uint8_t {
  nobody,  // it is dropped
  later,   // it is shown, recorded or dropped; nobody can tell when it was given
  now,     // it may be raised or handed to code of the user's
};

struct WarningState {
  Hearing hearing = Hearing::now;
  bool once = false;        // no filter shows a warning of one line more than once
  bool only_taken = false;  // what is shown goes to a C function, which keeps it
  bool operator==(const WarningState&) const = default;
};
// Cheap enough for every call: looked at anew when the module, its list of filters, or an item of the list is another one.
WarningState warning_state();

// Whether nobody sees memory when a warning is printed. `writes`: memory that Python can reach has been written.
bool prints_unseen(const WarningState& state, bool writes);

// What has been shown at this moment.
class ShownWarnings {
 public:
  // Whether code with these globals has given a RuntimeWarning before, and would not be heard again. key: (text, category,
  // line).
  bool contains(PyObject* globals, PyObject* key);

 private:
  PyObject* version_ = nullptr;  // of the last registry, and whether registries of this version are valid
  bool is_current_ = false;
};

// Gives a RuntimeWarning as code with these globals does at a line of a file. False with an exception set.
bool warn_at(PyObject* globals, PyObject* file, int line, PyObject* message);

}  // namespace accel
