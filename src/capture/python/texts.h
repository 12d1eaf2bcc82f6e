#pragma once
// Texts: strings that an exit makes of numbers known at run time only, by the interpreter's own functions.

#include "capture/context/context.h"

namespace accel {

// The str callable(*items).
Ref make_text(PyRef callable, std::vector<Ref> items);

// str, repr, ascii or format of a number or text, with an optional constant spec.
Result<Ref> text_of(Capture& capture, PyObject* callable, const Ref& value, const Ref& spec = nullptr);

// Whether the text depends on state that a call may change before the text is made: NumPy's print options, the locale.
bool depends_on_options(const Ref& text);

}  // namespace accel
