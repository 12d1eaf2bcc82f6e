#pragma once
// DividedReductionWriter: reductions whose elements threads share: tasks, each of which is a part of the elements, and the text
// that joins their results.

#include <functional>

#include "codegen/emit/functions/kernel_function.h"
#include "codegen/emit/writer.h"

namespace accel {

class DividedReductionWriter : public Writer {
 public:
  explicit DividedReductionWriter(KernelFunction& function) : Writer(function.emission()), function_(function) {}

  // A statement with Stmt::divide_work.
  void divided(const Stmt& stmt);

 private:
  void divided_pairwise(const Stmt& stmt);
  void divided_chunks(const Stmt& stmt);
  void divided_fold(const Stmt& stmt);
  void divided_argreduce(const Stmt& stmt);
  // Runs tasks.count tasks in parallel; `task` writes the text of one and returns its result, which becomes results[task].
  // `settled`: the condition under which later tasks cannot change the result, so that they are not computed; empty: none.
  void launch_tasks(const Stmt& stmt, const std::string& total, const std::function<std::string(Emission&)>& task,
                    const std::string& settled = "");

  KernelFunction& function_;
};

}  // namespace accel
