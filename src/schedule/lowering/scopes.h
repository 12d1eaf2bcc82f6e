#pragma once
// Lowering::Cut: sets inner scopes aside, so that statements go to an outer one before the loops that are still open.

#include <algorithm>
#include <iterator>
#include <memory>
#include <vector>

#include "schedule/lowering/lowering.h"

namespace accel {

class Lowering::Cut {
 public:
  // Requires 0 <= level < open scopes. Keeps scopes 0..level open until the end of its life.
  Cut(Lowering& lowering, int level) : lowering_(lowering) {
    auto first = lowering.scopes_.begin() + level + 1;
    std::move(first, lowering.scopes_.end(), std::back_inserter(aside_));
    lowering.scopes_.erase(first, lowering.scopes_.end());
  }
  ~Cut() { std::move(aside_.begin(), aside_.end(), std::back_inserter(lowering_.scopes_)); }
  Cut(const Cut&) = delete;
  Cut& operator=(const Cut&) = delete;

 private:
  Lowering& lowering_;
  std::vector<std::unique_ptr<Scope>> aside_;
};

}  // namespace accel
