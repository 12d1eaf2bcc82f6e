#pragma once
// The abstract interpreter: frames, the loop over their instructions, calls. Handlers of instructions are in ops_*.cpp.

#include <Python.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/capture.h"
#include "capture/recipe_writer.h"
#include "cpython/bytecode.h"

namespace accel {

struct Frame {
  Ref function;
  std::shared_ptr<const Bytecode> bytecode;
  PyRef globals, builtins;
  std::vector<Ref> locals;   // localsplus; null Ref: unbound
  std::vector<Ref> stack;    // CPython's layout
  std::vector<Ref> closure;  // cells
  std::string file;
  int next = 0;             // index of the instruction to run next
  int id = 0;               // of this activation
  bool in_library = false;  // code that people do not want to see named
  bool nested = false;      // entered by a primitive: there is no way to resume here

  PyCodeObject* code() const { return reinterpret_cast<PyCodeObject*>(bytecode->code.get()); }
  Ref pop() {
    Ref top = std::move(stack.back());
    stack.pop_back();
    return top;
  }
  void push(Ref value) { stack.push_back(std::move(value)); }
  const Ref& peek(int depth) const { return stack[stack.size() - static_cast<size_t>(depth)]; }  // 1 is the top
};

// What a callable made of Python code needs for a frame.
struct PythonFunction {
  Ref function;
  PyRef code, globals, builtins;
  std::vector<Ref> defaults;
  std::vector<std::pair<PyRef, Ref>> keyword_defaults;
  std::vector<Ref> closure;
};

class Interpreter {
 public:
  enum class End { returned, stopped, failed };

  Interpreter(Capture& capture, int budget, int node_budget);

  // Puts the frame of a call of `function` with these locals (borrowed, null = unbound) at the bottom.
  Status enter(PyObject* function, PyObject* const* locals, int local_count);

  // Runs until the bottom frame returns, an instruction fails, or before the instruction number `stop` (-1: never). Counts
  // instructions from 0. With `watch`, writable() is up to date at every instruction on the way.
  End run(int64_t stop, bool watch);

  // run() with `watch` stops at the n-th position at which all frames can be rebuilt.
  void stop_at_writable(int64_t n) { most_writable_ = n; }

  const Ref& result() const { return result_; }
  const Failure& failure() const { return failure_; }
  int64_t position() const { return position_; }  // number of the instruction at which the run ended
  int64_t writable() const { return writable_; }  // last position at which all frames could be rebuilt
  int instructions() const { return static_cast<int>(count_); }
  Location where() const;

  // Recipes for all frames; fails when one cannot be rebuilt here.
  Result<std::vector<FrameRecipe>> write_frames(RecipeWriter& writer) const;

  // --- for handlers and calls -----------------------------------------------------------------------------------------
  Capture& capture() { return capture_; }
  const Ref& null() const { return null_; }
  // Calls anything. A Python function gets a frame, the result comes later (nullopt); else the result.
  Result<std::optional<Ref>> begin_call(const Ref& callable, CallArguments arguments);
  // Calls anything and runs it to its end.
  Result<Ref> call_now(const Ref& callable, const CallArguments& arguments);
  Status leave(Ref result);  // returns from the top frame

 private:
  Status step(Frame& frame);
  Result<bool> run_frames(size_t base, int64_t stop, bool watch);
  Status push_frame(PythonFunction function, const CallArguments& arguments);
  Status check_depth(PyObject* code) const;
  Result<std::shared_ptr<const Bytecode>> bytecode_of(PyObject* code);
  PythonFunction constant_function(const Ref& function);
  PythonFunction made_function(const Ref& function);
  Ref cell_of(PyObject* cell, const std::string& name);
  Result<std::optional<Ref>> call_constant(const Ref& callable, CallArguments arguments);
  Result<std::optional<Ref>> call_primitive(Primitive primitive, PyObject* object, const CallArguments& arguments);
  Result<std::optional<Ref>> call_bound_builtin(PyObject* object, CallArguments arguments);
  Result<std::optional<Ref>> call_method(const Ref& method, CallArguments arguments);
  Result<std::optional<Ref>> call_parts(const AbstractValue& partial, CallArguments arguments);
  Result<std::optional<Ref>> call_partial(const Ref& partial, CallArguments arguments);
  Result<std::optional<Ref>> call_dispatcher(PyObject* dispatcher, CallArguments arguments);
  Failure budget_failure();
  const std::vector<bool>& loop_headers(const Bytecode& bytecode);
  void set_location(const Frame& frame, const Instruction& instruction);

  Capture& capture_;
  int64_t budget_, node_budget_;
  Ref null_;
  std::vector<std::unique_ptr<Frame>> frames_;
  std::unordered_map<PyObject*, std::shared_ptr<const Bytecode>> bytecodes_;
  std::unordered_map<const Bytecode*, std::vector<bool>> headers_;  // targets of backward jumps
  std::unordered_map<PyObject*, Ref> cells_;
  std::map<std::pair<int, int>, std::pair<int64_t, int64_t>> loops_;  // (frame, header): position of first visit, visits
  Ref result_, nested_result_;
  Failure failure_;
  int64_t count_ = 0, position_ = 0, writable_ = 0, writable_count_ = 0, most_writable_ = -1;
  int nesting_ = 0, next_frame_id_ = 0;
};

// Code of NumPy: its frames are not named in reports.
bool is_library_file(const std::string& file);

// The wrapped Python function of a callable of accel's own (borrowed), or null; set by dispatch.
using Unwrap = PyObject* (*)(PyObject* callable);
void set_unwrap(Unwrap unwrap);

// Binds the arguments of a call to locals as CPython does (the first co_nlocalsplus entries of the result). Fails with
// will_raise.
Result<std::vector<Ref>> bind_call(Capture& capture, const PythonFunction& function, const CallArguments& arguments);

// A handler does what one instruction does to the frame. frame.next is already the following instruction.
struct Step {
  Interpreter& interpreter;
  Capture& capture;
  Frame& frame;
  const Instruction& instruction;
};
using OpcodeHandler = Status (*)(Step& step);  // null in the table: unsupported_opcode

}  // namespace accel
