#pragma once
// super(): the object through which a method reaches what its class overrides.

#include "capture/interpreter/frame.h"
#include "capture/protocol/operations.h"

namespace accel {

bool is_super(Capture& capture, const Ref& callable);
// What super() means in a frame: its first argument, and the class in whose body the code was written.
Result<Ref> super_of_frame(Capture& capture, const Frame& frame);
// super(cls, self)
Result<Ref> super_of(Capture& capture, const Ref& cls, const Ref& self);

}  // namespace accel
