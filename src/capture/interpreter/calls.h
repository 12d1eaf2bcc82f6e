#pragma once
// Calls: what a callable is, and the frame, primitive or further callable that stands for it.

#include <unordered_map>

#include "capture/interpreter/interpreter_part.h"
#include "capture/interpreter/python_function.h"
#include "capture/protocol/primitive.h"

namespace accel {

class Calls : InterpreterPart {
 public:
  explicit Calls(Interpreter& interpreter) : InterpreterPart(interpreter) {}

  // Calls anything. A Python function gets a frame, the result comes later (nullopt); else the result.
  Result<std::optional<Ref>> begin(const Ref& callable, CallArguments arguments);
  // A function that is the same object in every call, with its parts.
  PythonFunction constant_function(const Ref& function);
  // Guards which code a callable has that the process calls.
  void guard_called(const Ref& callable);

 private:
  using Called = Result<std::optional<Ref>>;

  PythonFunction made_function(const Ref& function);  // by the captured code
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
  // Callables that arrive as data: they are known by their parts (calls_by_parts.cpp). How one is called; null: it is known as
  // an object.
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
