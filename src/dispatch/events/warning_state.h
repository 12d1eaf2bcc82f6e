#pragma once
// How a RuntimeWarning would be handled: the filters, hooks and registries of the module `warnings`.

#include <Python.h>

#include <cstdint>

namespace accel {

enum class Hearing : uint8_t {
  nobody,  // the warning is dropped
  later,   // it is shown, recorded or dropped, in a way that does not reveal when it was given
  now,     // it may be raised or passed to user code
};

struct WarningState {
  Hearing hearing = Hearing::now;
  bool once = false;        // no filter shows the warning of a line more than once
  bool only_taken = false;  // warnings are only recorded, by a C function
  bool operator==(const WarningState&) const = default;
};
// The current state. Cheap enough for every call: cached until the module, its list of filters, or an item of the list changes.
WarningState warning_state();

// Whether printing a warning runs no user code that could see memory. `writes`: memory that Python can reach has been written.
bool prints_unseen(const WarningState& state, bool writes);

// Warnings that have been shown.
class ShownWarnings {
 public:
  // Whether code with these globals has issued the RuntimeWarning of this key before, and it would not be shown again. key:
  // (text, category, line).
  bool contains(PyObject* globals, PyObject* key);

 private:
  PyObject* version_ = nullptr;  // version of the last registry, and whether registries of this version are valid
  bool is_current_ = false;
};

// Issues a RuntimeWarning as code with these globals would at a line of a file. False with an exception set.
bool warn_at(PyObject* globals, PyObject* file, int line, PyObject* message);

}  // namespace accel
