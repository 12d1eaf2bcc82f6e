#pragma once
// Calls: resolves a callable to a frame, a primitive, or another callable.

#include <unordered_map>

#include "capture/interpreter/interpreter_part.h"
#include "capture/interpreter/python_function.h"
#include "capture/protocol/primitive.h"

namespace accel {

class Calls : InterpreterPart {
 public:
  explicit Calls(Interpreter& interpreter) : InterpreterPart(interpreter) {}

  // Calls any callable. For a Python function pushes a frame and returns nullopt; otherwise returns the result.
  Result<std::optional<Ref>> begin(const Ref& callable, CallArguments arguments);
  // The parts of a function that is the same object in every call.
  PythonFunction constant_function(const Ref& function);
  // Guards the code of a callable that the process calls.
  void guard_called(const Ref& callable);

 private:
  using Called = Result<std::optional<Ref>>;

  Called enter(PythonFunction function, const CallArguments& arguments);  // nullopt: pushes the frame
  PythonFunction made_function(const Ref& function);                      // of a function made by the captured code
  Ref cell_of(PyObject* cell, const std::string& name);
  Called call_constant(const Ref& callable, CallArguments arguments);
  Called call_primitive(Primitive primitive, PyObject* object, const CallArguments& arguments);
  Called call_bound_builtin(PyObject* object, CallArguments arguments);
  Called call_method(const Ref& method, CallArguments arguments);
  Called call_parts(const AbstractValue& partial, CallArguments arguments);
  Called call_partial(const Ref& partial, CallArguments arguments);
  Called call_dispatcher(PyObject* dispatcher, CallArguments arguments);
  Called walk_builtin(PyObject* form, const CallArguments& arguments);
  Called make_exception(PyObject* type, const CallArguments& arguments);
  // Callables that arrive as data are described by their parts (calls_by_parts.cpp). The method that calls one; null:
  // `callable` is a constant.
  using CallByParts = Called (Calls::*)(const Ref& callable, CallArguments arguments);
  CallByParts by_parts(const Ref& callable) const;
  PythonFunction function_by_parts(const Ref& function);
  Ref cell_at(SourceId source, PyObject* cell, const std::string& name);
  Called call_function_by_parts(const Ref& function, CallArguments arguments);
  Called call_method_by_parts(const Ref& method, CallArguments arguments);
  Called call_partial_by_parts(const Ref& partial, CallArguments arguments);

  std::unordered_map<PyObject*, Ref> cells_;
  std::unordered_map<SourceId, Ref> cells_at_;
};

}  // namespace accel
