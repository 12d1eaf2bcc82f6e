#pragma once
// Values on the stack that own no reference: since 3.14 a load of a local variable that stays bound until the value is used
// borrows the variable's reference.

#include <vector>

#include "cpython/bytecode/bytecode.h"

namespace accel {

// For each of the `size` values on the stack before instruction `index`, bottom first, the local that it borrows from; -1 for a
// value that owns its reference.
std::vector<int> borrowed_values(const Bytecode& bytecode, int index, int size);

// Whether code stores to the local, or deletes it.
bool rebinds_local(const Bytecode& bytecode, int local);

}  // namespace accel
