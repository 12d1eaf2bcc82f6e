#pragma once
// Calls of Python objects that have no compiled form: compiled code asks the process to make them (PythonCall).

#include <vector>

#include "capture/interpreter/exits/recipe_writer.h"
#include "capture/interpreter/interpreter_part.h"

namespace accel {

class CallSites : InterpreterPart {
 public:
  explicit CallSites(Interpreter& interpreter) : InterpreterPart(interpreter) {}

  // Whether the running instruction's call is planned to be made by the process.
  bool is_planned() const;
  // Adds that call to the graph.
  Result<Ref> make(const Ref& callable, const CallArguments& arguments);
  // Called when the running instruction has failed. Throws Restart if the process can make its call, or a call that contains
  // it.
  void plan_instead(const Failure& why);

 private:
  void plan_manager(std::vector<const Frame*> frames, const Failure& why);
  void plan(const std::vector<const Frame*>& frames, const Failure& why);
  void hand_over(const Ref& value);
  bool is_ignored() const;
  Status write_site(PythonCall& site, RecipeWriter& writer, const Ref& callable, const std::vector<Ref>& given);
  Status assume_result(PythonCall& site, BoxedCall& call, size_t candidates) const;
  ValueId add_call(const PythonCall& site, const RecipeWriter& writer, BoxedCall& call);
  Ref received_identity(ValueId made, size_t result);
  void number_objects(const PythonCall& site, const RecipeWriter& writer, ValueId made);
  Result<Ref> result_of_call(const PythonCall& site, ValueId made, BoxedCall& call);
};

}  // namespace accel
