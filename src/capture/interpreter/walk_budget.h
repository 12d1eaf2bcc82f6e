#pragma once
// How much a capture may walk: instructions, nodes of the graph, and time.

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

// Processor time of this thread.
double thread_seconds();

class WalkBudget : InterpreterPart {
 public:
  explicit WalkBudget(Interpreter& interpreter) : InterpreterPart(interpreter) {}

  bool is_exceeded() const;
  // The failure of a walk whose budget is exceeded. The exit goes to where the loop that takes most of the instructions began.
  Failure failure();
  // Fails when the time is over.
  Status check_time() const;
  // Gives up loops that are unrolled when the graph has become too large. Throws Restart then.
  void limit_unrolling();
  // The frame is at the header of a loop that is evaluated at capture.
  void note_visit(const Frame& frame);

 private:
  struct Visits {
    int64_t first = 0, count = 0;  // position of the first one
  };

  std::map<std::pair<int, int>, Visits> visits_;  // by frame and header
};

}  // namespace accel
