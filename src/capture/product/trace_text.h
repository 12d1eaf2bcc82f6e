#pragma once
// The text of a capture, for people.

#include <string>

#include "capture/product/captured.h"

namespace accel {

std::string describe(const Captured& captured);

}  // namespace accel
