#include "capture/interpreter/walk_budget.h"

#include <time.h>

#include "capture/interpreter/interpreter.h"

namespace accel {

namespace {

constexpr int64_t most_unrolled_nodes = 1200;

}  // namespace

bool WalkBudget::is_exceeded() const {
  return walk_.count >= interpreter_.options().budget ||
         static_cast<int64_t>(capture_.graph().nodes.size()) > interpreter_.options().node_budget;
}

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Status WalkBudget::check_time() const {
  if (walk_.count % 16 != 0 || thread_seconds() < interpreter_.options().end) return Unit{};
  return fail(Reason::capture_budget, "more than accel.config.capture_seconds of processor time");
}

void WalkBudget::limit_unrolling() {
  if (speculation_.loops.unrolled.empty() || static_cast<int64_t>(capture_.graph().nodes.size()) <= most_unrolled_nodes) return;
  speculation_.loops.given_up.insert(speculation_.loops.unrolled.begin(), speculation_.loops.unrolled.end());
  speculation_.loops.unrolled.clear();
  speculation_.forget_numbering();
  throw Restart{};
}

void WalkBudget::note_visit(const Frame& frame) {
  ++visits_.try_emplace({frame.id, frame.next}, Visits{walk_.count, 0}).first->second.count;
}

Failure WalkBudget::failure() {
  int64_t most = 0;
  for (const auto& [key, visit] : visits_) {
    if (visit.count > most) {
      most = visit.count;
      walk_.running.position = visit.first;
    }
  }
  return fail(Reason::capture_budget, std::to_string(walk_.count) + " instructions");
}

}  // namespace accel
