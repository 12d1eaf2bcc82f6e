#pragma once
// super(): the object that looks up overridden methods.

#include "capture/protocol/operations.h"

namespace accel {

bool is_super(Capture& capture, const Ref& callable);
// super() without arguments in a frame with this code and these locals: the class is that in whose body the code was written,
// and self the first argument.
Result<Ref> super_of_frame(Capture& capture, PyCodeObject* code, const std::vector<Ref>& frame_locals);
// super(cls, self)
Result<Ref> super_of(Capture& capture, const Ref& cls, const Ref& self);

}  // namespace accel
