#pragma once
// Where the elements of a value are.

#include <cstdint>

namespace accel {

// inlined: computed where they are used. root: in memory of their own, which all nests see. row: in memory of one thread, for
// one iteration of the outer loops of a nest.
enum class Place : uint8_t { inlined, root, row };

}  // namespace accel
