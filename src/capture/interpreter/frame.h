#pragma once
// One activation of a Python function during capture.

#include <Python.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "capture/domain/value.h"
#include "capture/interpreter/control_flow.h"
#include "cpython/bytecode/bytecode.h"

namespace accel {

struct PathState;

struct FunctionCode {
  Bytecode bytecode;
  CodeFlow flow;
};

// The loops of a frame's code, by instruction index of their headers.
struct FrameLoops {
  std::map<int, int> rounds;              // evaluated at capture: number of back edges taken so far
  std::map<int, int> forks;               // evaluated at capture: fork count of the path at the last visit of the header
  std::map<int, std::string> unrollable;  // loops of the graph that could be evaluated at capture: names of their locations
  std::set<int> counted;                  // loops of the graph whose iteration count is known
};

struct Frame {
  Ref function;
  std::shared_ptr<const FunctionCode> code_of;
  PyRef globals, builtins;
  std::vector<Ref> locals;   // localsplus; null Ref: unbound
  std::vector<Ref> stack;    // in CPython's layout
  std::vector<Ref> closure;  // cells
  std::string file;
  FrameLoops loops;
  int next = 0;                  // index of the instruction to run next
  int previous = -1;             // index of the instruction that ran last
  int id = 0;                    // unique for each activation
  int forks_before = 0;          // fork count of the path when it was entered
  int64_t decisions_before = 0;  // FrameStack::decisions() when it was entered
  bool in_library = false;       // NumPy's code: reports do not name it
  bool nested = false;           // pushed by a primitive: no exit can rebuild it
  Ref generator;                 // the generator that it runs; null: a call
  // For the Python form of a builtin, and for a generator function until it returns its generator: the path before the call.
  // Exits cannot rebuild this frame or its callees, so they go back to before the call, up to which nothing visible to Python
  // may have changed.
  std::shared_ptr<const PathState> before_call;

  // The instruction at which liveness of locals is asked. While a for loop waits for an item it may also end, so it is the
  // for_iter instruction itself.
  int live_at(bool waits) const {
    return waits && bytecode().instructions[static_cast<size_t>(next) - 1].op == Opcode::for_iter ? next - 1 : next;
  }
  // Whether the local may be read from here on, or by the handler of an exception in the call for which the frame waits.
  bool is_live(size_t local, bool waits) const {
    if (flow().is_live(live_at(waits), local)) return true;
    int handler = waits ? bytecode().instructions[static_cast<size_t>(next) - 1].handler : -1;
    return handler >= 0 && flow().is_live(bytecode().handlers[static_cast<size_t>(handler)].target, local);
  }

  // Whether the frame below waits for this generator frame to yield.
  bool is_consumed() const { return generator != nullptr && !nested; }

  const Bytecode& bytecode() const { return code_of->bytecode; }
  const CodeFlow& flow() const { return code_of->flow; }
  PyCodeObject* code() const { return reinterpret_cast<PyCodeObject*>(bytecode().code.get()); }
  Ref pop() {
    Ref top = std::move(stack.back());
    stack.pop_back();
    return top;
  }
  void push(Ref value) { stack.push_back(std::move(value)); }
  const Ref& peek(int depth) const { return stack[stack.size() - static_cast<size_t>(depth)]; }  // 1 is the top

  // Of the for loop at whose header the frame is.
  const Ref& iterator() const { return peek(iterator_slots); }
  void drop_iterator() { stack.resize(stack.size() - iterator_slots); }
};

// A name of the next instruction of a frame, or of all frames of a path, that is equal in all attempts.
std::string place_of(const Frame& frame);
std::string place_of(const std::vector<const Frame*>& frames);

}  // namespace accel
