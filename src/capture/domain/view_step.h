#pragma once
// ViewStep: a view op of the IR that leads from a base array to a view of it.

#include "ir/graph.h"

namespace accel {

struct ViewStep {
  Op op = Op::transpose;
  Attributes attrs;
  Type type;  // result
};

}  // namespace accel
