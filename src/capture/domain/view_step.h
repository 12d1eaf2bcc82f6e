#pragma once
// ViewStep: one step from a base to a view, a view op of the IR.

#include "ir/graph.h"

namespace accel {

struct ViewStep {
  Op op = Op::transpose;
  Attributes attrs;
  Type type;  // result
};

}  // namespace accel
