#pragma once
// Edits of a graph: replacing a value everywhere it is used, removing a parameter, splitting an edge; and the comparisons they
// need: nodes that compute equal values, views of the same elements.

#include "ir/graph.h"

namespace accel {

// replacement[v] is the value to use for v (v itself when not replaced; chains are followed). Rewrites operands and
// terminators.
void replace_uses(Graph& graph, const std::vector<ValueId>& replacement);

// A replacement table that replaces nothing.
std::vector<ValueId> no_replacement(const Graph& graph);

// Removes the parameter at this position of a block, and its arguments on all edges.
void remove_param(Graph& graph, BlockId block, size_t position);

// An edge from one block to another: a target of a terminator.
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

// Per value: whether the function returns it. The node of such a value must stay: each result is an object of its own.
std::vector<bool> returned_values(const Graph& graph);

// Whether two nodes compute one result from equal operands; such nodes have equal hashes.
bool same_computation(const Graph& graph, const Node& a, const Node& b);
size_t computation_hash(const Node& node);

// Adds to a block a copy of the chain of views from `from` to `view`, on `to` instead of `from`; returns `to` when the chain is
// empty.
ValueId copy_view(Graph& graph, BlockId block, ValueId view, ValueId from, ValueId to);

bool is_view(const Graph& graph, ValueId v);
// Whether `a` is the view of `base_a` that `b` is of `base_b`.
bool is_same_view(const Graph& graph, ValueId a, ValueId base_a, ValueId b, ValueId base_b);

}  // namespace accel
