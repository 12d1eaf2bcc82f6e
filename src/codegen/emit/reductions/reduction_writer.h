#pragma once
// ReductionWriter: what all reductions share: the local function that computes an element; and lists of what a mask holds for.

#include "codegen/emit/loops/period_writer.h"
#include "codegen/emit/writer.h"

namespace accel {

class ReductionWriter : public Writer {
 public:
  using Writer::Writer;

  void list(const Stmt& stmt);
  // A local function `name` from the statement's variable to `value`, of type `type`.
  void element(const Stmt& stmt, const std::string& name, const std::string& type, const std::string& value);
  // Whether one bool may decide the result of the reduction.
  bool stops_early(const Stmt& stmt);

 protected:
  // The statement over bools, when it adds up how many are true.
  std::optional<Stmt> over_bools(const Stmt& stmt);
  // Whether elements that cannot change the result may be passed over: they are simple, and have no events.
  bool may_pass_over(const Stmt& stmt);

 private:
  void element_by_period(const Stmt& stmt, const Period& period, const std::string& name, const std::string& type,
                         const std::string& value);
};

}  // namespace accel
