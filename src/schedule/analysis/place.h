#pragma once
// Where the elements of a value are stored.

#include <cstdint>

namespace accel {

// inlined: computed at each use. root: in memory of its own that all nests see. row: in memory of one thread, for one iteration
// of the outer loops of a nest.
enum class Place : uint8_t { inlined, root, row };

}  // namespace accel
