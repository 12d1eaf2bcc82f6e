#pragma once
// Properties of sys.stderr that decide whether a warning may be given later than NumPy gives it. Requires the GIL.

namespace accel {

// Whether only C code handles text written to it, and raises nothing but OSError: None, or an open stream of the module `io`
// over a file or memory. Cheap enough for every call.
bool is_stderr_plain();

// Whether it can be written to: it is None, or not closed. May run Python code.
bool is_stderr_open();

}  // namespace accel
