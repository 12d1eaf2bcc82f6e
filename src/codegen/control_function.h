#pragma once
// ControlFunction: the function that runs the blocks of a program: scalar steps are its own statements, nests are called.

#include "codegen/kernel_function.h"

namespace accel {

class ControlFunction : private KernelFunction {
 public:
  // `nests`: of this copy, in the order of Program::nests.
  ControlFunction(Copy& copy, const std::vector<std::string>& nests, std::string name);

  // Text of `static void <name>(Frame* frame)`.
  Result<std::string> write_program();

 private:
  void find_shared();
  void write_block(size_t number);
  void scalars(const Body& body);
  void run(size_t nest);
  void protect(BufferId id);
  void hold(BufferId id);
  void go(const Edge& edge);
  void exit(const ProgramBlock& block);
  void define(const Stmt& stmt, const std::string& value) override;
  void input(const Stmt& stmt) override;
  std::string dims_text(const std::vector<Dim>& dims);
  void refresh(BufferId id);
  void stop_unless(const std::string& condition);
  void keep_events();

  const Program& program_;
  const std::vector<std::string>& nests_;      // names of the nests' functions
  std::set<TempId> shared_;                    // declared at the top of the function
  std::map<std::string, std::string> inputs_;  // scalar inputs: name, text of its value
  std::set<BufferId> held_;                    // buffers that have memory in this block
  std::vector<BufferId> protected_;
  int events_ = 0;  // of scalar steps
};

// Buffers that `protect` steps name, ascending.
std::vector<BufferId> protected_buffers(const Program& program);

}  // namespace accel
