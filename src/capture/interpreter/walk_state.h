#pragma once
// The state of the walk: the current path and the running instruction.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capture/context/context.h"
#include "capture/interpreter/frame.h"
#include "capture/interpreter/paths/path_state.h"

namespace accel {

// Whether the current path continues.
enum class PathOutcome : uint8_t { goes_on, ended };

// How the path reached its next instruction.
enum class Approach : uint8_t {
  step,     // from the preceding instruction
  returns,  // from a call in which paths forked
  resumes,  // after it waited there for other paths
};

// The result of frames that a primitive has pushed.
struct NestedResult {
  enum class End : uint8_t { returned, yielded };
  Ref value;
  End end = End::returned;
};

// The running instruction: the state before it, and what has happened in it so far.
struct RunningInstruction {
  int64_t position = 0;               // number of the instruction in the order of the walk
  Frame frame;                        // top frame before the instruction
  size_t depth = 0;                   // number of frames before the instruction; 0: none has run
  int64_t effects = 0;                // Capture::effects() before the instruction
  std::string walkable;               // location that may be added to ControlSpeculation::walked if the instruction fails
  std::vector<std::string> branches;  // locations of branches in ControlSpeculation::taken that it has passed
  PathOutcome outcome = PathOutcome::goes_on;
};

// The last instruction of the path before which all frames could be rebuilt.
struct WritablePoint {
  int64_t position = -1;  // -1: none
  int forks = 0;          // how often the path had forked by then
};

struct WalkState {
  std::vector<std::unique_ptr<Frame>> frames;  // outermost first; empty: the path has ended, or waits for others
  std::vector<PassedLoop> passed;              // loops of the graph that the path is in
  int forks = 0;                               // how often the path has forked
  bool has_read = false;                       // a value that other threads may store was read since the path began or forked
  WritablePoint writable;
  Approach approach = Approach::step;
  int64_t count = 0;  // instructions walked, on all paths
  RunningInstruction running;
  int nesting = 0;           // depth of calls of Python code by primitives; 0: the path may fork
  bool speculative = false;  // blocks, exits and notes made now are dropped, and only guards stay
  NestedResult nested_result;
  Ref result;  // of the function, after its frame has returned

  std::vector<const Frame*> live_frames() const;
  // The frames as they were before the running instruction.
  std::vector<const Frame*> frames_before() const;
  // A name of the next instruction of all frames that is equal in all attempts and on all paths.
  std::string place() const;
  // Whether the running code is NumPy's own.
  bool in_library() const { return !frames.empty() && frames.back()->in_library; }

  // Saves everything that may differ between paths.
  PathState save(Capture& capture) const;
  // Saves the frames as they were before the running instruction, and what they reach.
  PathState save_before(Capture& capture) const;
  void restore(Capture& capture, const PathState& state);
};

}  // namespace accel
