#pragma once
// Limits of a capture: instructions walked, nodes of the graph, and time.

#include <map>
#include <utility>

#include "capture/interpreter/interpreter_part.h"

namespace accel {

struct WalkOptions {
  int64_t budget = 0;             // instructions
  int64_t node_budget = 0;        // of the graph
  int64_t stop_at_writable = -1;  // n: exit at the n-th position at which all frames can be rebuilt
  bool trace = false;             // record what each instruction did
  double end = 0;                 // thread_seconds() after which the walk fails
};

// Processor time of the current thread.
double thread_seconds();

class WalkBudget : InterpreterPart {
 public:
  explicit WalkBudget(Interpreter& interpreter) : InterpreterPart(interpreter) {}

  bool is_exceeded() const;
  // The failure of a walk that exceeds its budget. Plans the exit at the first iteration of the loop that takes most of the
  // instructions.
  Failure failure();
  // Fails when the time limit has passed.
  Status check_time() const;
  // If the graph has become too large, gives up loops that are unrolled and throws Restart.
  void limit_unrolling();
  // Counts a visit of the header at which the frame is, of a loop evaluated at capture.
  void note_visit(const Frame& frame);

 private:
  struct Visits {
    int64_t first = 0, count = 0;  // position of the first visit
  };

  std::map<std::pair<int, int>, Visits> visits_;  // by frame and header
};

}  // namespace accel
