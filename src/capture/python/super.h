#pragma once
// super(): the object through which a method reaches what its class overrides.

#include "capture/protocol/operations.h"

namespace accel {

bool is_super(Capture& capture, const Ref& callable);
// What super() means in a frame with this code and these locals: its first argument, and the class in whose body the code was
// written.
Result<Ref> super_of_frame(Capture& capture, PyCodeObject* code, const std::vector<Ref>& frame_locals);
// super(cls, self)
Result<Ref> super_of(Capture& capture, const Ref& cls, const Ref& self);

}  // namespace accel
