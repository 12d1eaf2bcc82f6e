#pragma once
// A readable text of a capture.

#include <string>

#include "capture/product/captured.h"

namespace accel {

std::string describe(const Captured& captured);

}  // namespace accel
