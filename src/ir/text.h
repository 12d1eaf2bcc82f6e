#pragma once
// Graph <-> text. The text is complete: print -> parse -> print is the identity.

#include <string>
#include <string_view>

#include "base/result.h"
#include "ir/graph.h"

namespace accel {

std::string print_graph(const Graph& graph);
Result<Graph> parse_graph(std::string_view text);

}  // namespace accel
