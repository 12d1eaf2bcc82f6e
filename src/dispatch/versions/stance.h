#pragma once
// The stance of the process: what a call of a compiled function may do.

#include <atomic>
#include <optional>
#include <string_view>

#include "base/settings.h"

namespace accel {

enum class Stance : int { normal, force_eager, fail_on_recompile, fail_on_fallback };

std::optional<Stance> stance_from_name(std::string_view name);
const char* stance_name(Stance stance);

extern std::atomic<Stance> current_stance;

inline Stance stance() { return current_stance.load(std::memory_order_relaxed); }

// Whether a call that leaves compiled code for the interpreter raises.
inline bool refuses_fallbacks() { return stance() == Stance::fail_on_fallback; }

// Whether every function runs in the interpreter now.
inline bool is_switched_off() { return stance() == Stance::force_eager || settings().disable.get(); }

}  // namespace accel
