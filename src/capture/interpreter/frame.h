#pragma once
// One activation of a Python function, as capture walks its code.

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

// The loops of a frame's code, by index of their headers.
struct FrameLoops {
  std::map<int, int> rounds;              // evaluated at capture, iteration by iteration: number of jumps back so far
  std::map<int, int> forks;               // evaluated at capture: how often the path had forked when it last came to the header
  std::map<int, std::string> unrollable;  // loops of the graph that could be evaluated at capture: names of their places
  std::set<int> counted;                  // loops of the graph whose number of iterations is known
};

struct Frame {
  Ref function;
  std::shared_ptr<const FunctionCode> code_of;
  PyRef globals, builtins;
  std::vector<Ref> locals;   // localsplus; null Ref: unbound
  std::vector<Ref> stack;    // CPython's layout
  std::vector<Ref> closure;  // cells
  std::string file;
  FrameLoops loops;
  int next = 0;                  // index of the instruction to run next
  int previous = -1;             // index of the instruction that ran last
  int id = 0;                    // of this activation
  int forks_before = 0;          // how often the path had forked when it was entered
  int64_t decisions_before = 0;  // the same with what guards had decided (FrameStack::decisions)
  bool in_library = false;       // code of NumPy: reports do not name it
  bool nested = false;           // entered by a primitive: no exit can rebuild it
  Ref generator;                 // whose frame this is; null: of a call
  // Of code that stands for a builtin: the path before the call. No exit rebuilds this frame or what it calls: exits leave
  // for the call, which must have changed nothing by then that Python can see.
  std::shared_ptr<const PathState> before_call;

  // The instruction whose live variables are those that the frame may still read. A for loop that waits for an item may end,
  // too.
  int live_at(bool waits) const {
    return waits && bytecode().instructions[static_cast<size_t>(next) - 1].op == Opcode::for_iter ? next - 1 : next;
  }
  // Whether the local may be read after this point, or by the handler of an error in the call that the frame waits for.
  bool is_live(size_t local, bool waits) const {
    if (flow().is_live(live_at(waits), local)) return true;
    int handler = waits ? bytecode().instructions[static_cast<size_t>(next) - 1].handler : -1;
    return handler >= 0 && flow().is_live(bytecode().handlers[static_cast<size_t>(handler)].target, local);
  }

  // Whether the frame below waits for what this one yields.
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
};

// Names the next instruction of a frame, or of all frames of a path: the same in every attempt.
std::string place_of(const Frame& frame);
std::string place_of(const std::vector<const Frame*>& frames);

}  // namespace accel
