#pragma once
// The instructions that enter a `with` statement. Up to 3.13 before_with enters it; since 3.14 these do, after the expression
// of the manager: copy, load_special of __exit__, swap, swap, load_special of __enter__, call.

#include "cpython/bytecode/bytecode.h"

namespace accel {

// Whether instruction `index` is the call of __enter__, whose method load_special has loaded.
bool is_call_of_enter(const Bytecode& bytecode, int index);

// The index of the instruction before the `with` statement that instruction `index` enters: where the expression of the manager
// is a call, that call. -1: the instruction enters none.
int call_of_manager(const Bytecode& bytecode, int index);

}  // namespace accel
