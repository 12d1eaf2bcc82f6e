#pragma once
// The path that is walked now, and the instruction that runs.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capture/context/context.h"
#include "capture/interpreter/frame.h"
#include "capture/interpreter/paths/path_state.h"

namespace accel {

// Whether the path that is walked continues.
enum class PathOutcome : uint8_t { goes_on, ended };

// How the path has come to the instruction that is next.
enum class Approach : uint8_t {
  step,     // from the instruction before it
  returns,  // from a call in which paths have forked
  resumes,  // it waited there for other paths
};

// What the frames above that of a primitive have ended with.
struct NestedResult {
  enum class End : uint8_t { returned, yielded };
  Ref value;
  End end = End::returned;
};

// The instruction that runs: what was there before it, and what it has met so far.
struct RunningInstruction {
  int64_t position = 0;               // number of the instruction in the order of the walk
  Frame frame;                        // the top frame before it
  size_t depth = 0;                   // number of frames before it; 0: none has run
  int64_t effects = 0;                // Capture::effects() before it
  std::string walkable;               // place that may be added to ControlSpeculation::walked if the instruction fails
  std::vector<std::string> branches;  // places in ControlSpeculation::taken that it has passed
  PathOutcome outcome = PathOutcome::goes_on;
};

// The last instruction before which all frames could be rebuilt.
struct WritablePoint {
  int64_t position = -1;  // -1: there was none
  int forks = 0;          // how often the path had forked there
};

struct WalkState {
  std::vector<std::unique_ptr<Frame>> frames;  // outermost first; none: the path has ended, or waits for others
  std::vector<PassedLoop> passed;              // loops of the graph that the path is in
  int forks = 0;                               // how often the path has forked
  bool has_read = false;                       // a value that other threads may store, since the path began or forked
  WritablePoint writable;
  Approach approach = Approach::step;
  int64_t count = 0;  // instructions that were walked, on all paths
  RunningInstruction running;
  int nesting = 0;           // calls of Python code by primitives that run: 0 where the path may fork
  bool speculative = false;  // what is walked is dropped again: it only adds guards
  NestedResult nested_result;
  Ref result;  // of the function, when its frame has returned

  std::vector<const Frame*> live_frames() const;
  // The frames as they were before the instruction that runs.
  std::vector<const Frame*> frames_before() const;
  // Names the next instruction of all frames: the same in all attempts, and for all paths there.
  std::string place() const;
  // Whether the code that runs is NumPy's own.
  bool in_library() const { return !frames.empty() && frames.back()->in_library; }

  // Copies what may differ from path to path.
  PathState save(Capture& capture) const;
  // Copies the frames before the instruction that runs, and what they reach.
  PathState save_before(Capture& capture) const;
  void restore(Capture& capture, const PathState& state);
};

}  // namespace accel
