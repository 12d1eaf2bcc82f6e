#pragma once
// Cut: temporarily sets inner scopes aside, so that statements are appended to an outer scope, before the loops still open in
// it.

#include <algorithm>
#include <iterator>
#include <memory>
#include <vector>

#include "schedule/lowering/statements.h"

namespace accel {

class Cut {
 public:
  // Requires 0 <= level < number of open scopes. Only scopes 0..level are open during the lifetime of the object.
  Cut(StatementLowering& writer, int level) : writer_(writer) {
    auto first = writer.scopes_.begin() + level + 1;
    std::move(first, writer.scopes_.end(), std::back_inserter(aside_));
    writer.scopes_.erase(first, writer.scopes_.end());
  }
  ~Cut() { std::move(aside_.begin(), aside_.end(), std::back_inserter(writer_.scopes_)); }
  Cut(const Cut&) = delete;
  Cut& operator=(const Cut&) = delete;

 private:
  StatementLowering& writer_;
  std::vector<std::unique_ptr<Scope>> aside_;
};

}  // namespace accel
