#pragma once
// The abstract interpreter: runs bytecode on abstract values, one instruction at a time. The semantics of opcode families are
// in opcodes/; the parts below are responsible for frames and calls, for paths, and for exits.

#include <Python.h>

#include <string>

#include "capture/interpreter/calls.h"
#include "capture/interpreter/exits/call_sites.h"
#include "capture/interpreter/exits/exit_planner.h"
#include "capture/interpreter/exits/interrupts.h"
#include "capture/interpreter/exits/path_exits.h"
#include "capture/interpreter/frame_stack.h"
#include "capture/interpreter/generators.h"
#include "capture/interpreter/paths/explorer.h"
#include "capture/interpreter/paths/merger.h"
#include "capture/interpreter/walk_budget.h"
#include "capture/interpreter/walk_state.h"

namespace accel {

struct Step;

class Interpreter final : public Walker {
 public:
  Interpreter(Capture& capture, const WalkOptions& options);
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  // FrameStack::enter and PathExplorer::run.
  Status enter(PyObject* function, PyObject* const* locals, int count) { return frames_.enter(function, locals, count); }
  Status run() { return explorer_.run(); }
  int instructions() const { return static_cast<int>(walk_.count); }
  std::string& trace() { return trace_; }

  Capture& capture() { return capture_; }
  const WalkOptions& options() const { return options_; }
  WalkState& walk() { return walk_; }
  WalkBudget& budget() { return budget_; }
  FrameStack& frames() { return frames_; }
  Calls& calls() { return calls_; }
  Generators& generators() { return generators_; }
  PathExplorer& explorer() { return explorer_; }
  PathMerger& merger() { return merger_; }
  PathExits& exits() { return exits_; }
  ExitPlanner& planner() { return planner_; }
  LoopInterrupts& interrupts() { return interrupts_; }
  CallSites& call_sites() { return call_sites_; }

  // Runs the next instruction of the top frame, which may be popped by it.
  Status try_step(Frame& frame);
  // Runs the frames from number `base` on until they have returned. On a failure they are popped.
  Status run_nested(size_t base);
  // The null that CPython pushes below a callable.
  const Ref& null() const { return null_; }
  // Whether a popped object is referred to only by the running instruction and by the copy of its frame (RunningInstruction).
  static bool is_temporary(const Ref& popped) { return popped.use_count() == 2; }

  // --- Walker ----------------------------------------------------------------------------------------------------------
  bool may_fork() const override { return walk_.nesting == 0; }
  bool may_fork_on_sizes() const override;
  bool in_loop() const override { return !walk_.passed.empty(); }
  bool in_library() const override { return walk_.in_library(); }
  std::vector<Ref> alive() override { return walk_.save(capture_).keep_objects; }
  Status leave_unless(ValueId condition, Reason reason, std::string detail, bool is_deferrable) override {
    return exits_.leave_unless(condition, reason, std::move(detail), is_deferrable);
  }
  Result<Ref> call_now(const Ref& callable, const CallArguments& arguments) override;
  Result<std::optional<Ref>> next_of_generator(const Ref& generator) override { return generators_.next(generator); }

 private:
  Status step(Frame& frame);
  Status traced(Step& step);
  Status run_down_to(size_t base);
  void set_location(const Frame& frame, const Instruction& instruction);

  Capture& capture_;
  WalkOptions options_;
  Ref null_;
  WalkState walk_;
  std::string trace_;
  WalkBudget budget_;
  FrameStack frames_;
  Calls calls_;
  Generators generators_;
  PathExplorer explorer_;
  PathMerger merger_;
  PathExits exits_;
  ExitPlanner planner_;
  LoopInterrupts interrupts_;
  CallSites call_sites_;
};

// What a handler gets: it applies one instruction to the frame. frame.next is already the following instruction.
struct Step {
  Interpreter& interpreter;
  Capture& capture;
  Frame& frame;
  const Instruction& instruction;
};
using OpcodeHandler = Status (*)(Step& step);  // null in the table: unsupported_opcode

}  // namespace accel
