#pragma once
// A command as people write it into CXX.

#include <string>
#include <vector>

#include "base/result.h"

namespace accel {

// The words of `text` as a shell (and Python's shlex) separates them: blanks, 'quotes', "quotes" and backslashes, nothing else.
// Fails with bad_command, whose detail names `what`, for a quotation that is not closed or a backslash at the end.
Result<std::vector<std::string>> split_words(const std::string& text, const std::string& what);

}  // namespace accel
