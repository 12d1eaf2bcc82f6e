#pragma once
// A graph as plain Python data, for backends written in Python.

#include <Python.h>

#include "ir/graph.h"

namespace accel {

// New reference: a dict of
//   symbols  [name, ...]
//   inputs   [{value, name, kind, dtype, shape, order, layout, slot}, ...]
//   blocks   [{params, nodes, end}, ...], the first is the entry
//     params   [{value, kind, dtype, shape, order}, ...]; none of the entry, which has the inputs
//     nodes    [{op, class, operands, results, types, axes, dims, steps, ufunc, buffered, literal, function, file, line},
//              ...] in program order; `function` of a call takes its operands and gives a tuple of its results
//     end      {kind, operands, exit, targets, arguments}: "ret" and "leave" hand over the operands at `exit`; "jump" and
//     "branch"
//              go to a target, when the operand is false to the second, with arguments for its parameters
// The kernel's maker adds ignored_events, reported_events: bits of the events that the code itself ignores or reports.
// Values are ints, types are {kind, dtype, shape, order} and sizes are Python expressions over s0, s1, ... (the symbols).
// Null with an exception. make_call(n): a new reference to the function of call n.
PyObject* graph_data(const Graph& graph, PyObject* (*make_call)(int));

}  // namespace accel
