#pragma once
// Maps the bytes of a shared object into the process.

#include <string_view>

#include "base/result.h"

namespace accel {

// A handle for dlsym and dlclose. What is mapped is a private copy of `object`: nothing on disk can change it later.
Result<void*> load_object(std::string_view object);

}  // namespace accel
