#pragma once
// The rules that single types, inputs and nodes obey; verifier.h checks them together with the structure of the graph.
// Each function returns what is wrong, or "".

#include <string>

#include "ir/graph.h"

namespace accel {

std::string type_error(const Graph& graph, const Type& type);
std::string input_error(const Graph& graph, const Input& input, const Type& type);
// Requires operands and results that are values.
std::string node_error(const Graph& graph, const Node& node);

}  // namespace accel
