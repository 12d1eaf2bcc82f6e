#include "base/reasons.h"

namespace accel {

namespace {

constexpr ReasonInfo table[] = {
#define REASON(code, what, way_out) {#code, what, way_out},
#include "base/reasons.inc"
#undef REASON
};

}  // namespace

const ReasonInfo& reason_info(Reason reason) { return table[static_cast<int>(reason)]; }

bool is_learned(Reason reason) { return reason == Reason::index_sign || reason == Reason::view_or_copy; }

bool raises_or_warns(Reason reason) { return reason == Reason::will_raise || reason == Reason::will_warn; }

bool ends_exceptionally(Reason reason) {
  return raises_or_warns(reason) || reason == Reason::integer_overflow || reason == Reason::interrupted;
}

int reason_count() { return static_cast<int>(sizeof(table) / sizeof(table[0])); }

}  // namespace accel
