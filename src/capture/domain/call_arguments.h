#pragma once
// The arguments of a call as abstract values.

#include <string>
#include <utility>
#include <vector>

#include "capture/domain/value.h"

namespace accel {

struct CallArguments {
  std::vector<Ref> positional;
  std::vector<std::pair<std::string, Ref>> keywords;
};

}  // namespace accel
