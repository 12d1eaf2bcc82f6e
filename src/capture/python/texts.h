#pragma once
// Texts: a str that the interpreter's own function makes of numbers when compiled code ends.

#include "capture/context/context.h"

namespace accel {

// callable(*items), a str.
Ref make_text(PyRef callable, std::vector<Ref> items);

// What str, repr, ascii or format makes of a number or text, and perhaps of a constant spec.
Result<Ref> text_of(Capture& capture, PyObject* callable, const Ref& value, const Ref& spec = nullptr);

// Whether the text depends on what a call may change before it is made: NumPy's print options, the locale.
bool depends_on_options(const Ref& text);

}  // namespace accel
