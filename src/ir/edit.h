#pragma once
// Edits of a graph: replacing a value everywhere it is used, removing a parameter, splitting an edge; and what they ask: which
// nodes compute the same, which views look at the same.

#include "ir/graph.h"

namespace accel {

// replacement[v] is the value to use for v (v itself when kept; chains are followed). Rewrites operands and terminators.
void replace_uses(Graph& graph, const std::vector<ValueId>& replacement);

// Where every value is kept.
std::vector<ValueId> no_replacement(const Graph& graph);

// Removes the parameter at this place of a block, and what edges give it.
void remove_param(Graph& graph, BlockId block, size_t position);

// A way from one block to another: a target of a terminator.
struct GraphEdge {
  BlockId from = -1;
  int number = 0;
};
// Puts a block without parameters on an edge.
BlockId split_edge(Graph& graph, GraphEdge edge);
// Puts one block on all of the edges, which lead to one target. It has that one's parameters.
BlockId join_edges(Graph& graph, const std::vector<GraphEdge>& edges);

// Removes blocks that nothing leads to any more, and numbers the others anew.
void remove_blocks(Graph& graph, const std::vector<bool>& gone);

// Per value: whether the function returns it. Such a value keeps its node, as each result is an object of its own.
std::vector<bool> returned_values(const Graph& graph);

// Whether two nodes compute the same from the same operands; such nodes have the same hash.
bool same_computation(const Graph& graph, const Node& a, const Node& b);
size_t computation_hash(const Node& node);

// Adds to a block a chain of views that looks at `to` as `view` does at `from`; `to` where they are the same.
ValueId copy_view(Graph& graph, BlockId block, ValueId view, ValueId from, ValueId to);

bool is_view(const Graph& graph, ValueId v);
// Whether `a` looks at `base_a` as `b` does at `base_b`.
bool is_same_view(const Graph& graph, ValueId a, ValueId base_a, ValueId b, ValueId base_b);

}  // namespace accel
