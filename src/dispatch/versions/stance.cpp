#include "dispatch/versions/stance.h"

namespace accel {
namespace {

// By Stance.
constexpr const char* stance_names[] = {"default", "force_eager", "fail_on_recompile", "fail_on_fallback"};

}  // namespace

std::atomic<Stance> current_stance{Stance::normal};

std::optional<Stance> stance_from_name(std::string_view name) {
  for (int i = 0; i < static_cast<int>(std::size(stance_names)); i++) {
    if (name == stance_names[i]) return static_cast<Stance>(i);
  }
  return std::nullopt;
}

const char* stance_name(Stance stance) { return stance_names[static_cast<int>(stance)]; }

}  // namespace accel
