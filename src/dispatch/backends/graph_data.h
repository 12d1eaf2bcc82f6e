#pragma once
// A graph as plain Python data, for backends that are written in Python.

#include <Python.h>

#include "ir/graph.h"

namespace accel {

// The graph as a new dict, or null with an exception:
//   symbols  [name, ...]
//   inputs   [{value, name, kind, dtype, shape, order, layout, slot}, ...]
//   blocks   [{params, nodes, end}, ...], the first is the entry
//     params   [{value, kind, dtype, shape, order}, ...]; empty for the entry, which has the inputs
//     nodes    [{op, class, operands, results, types, axes, dims, steps, ufunc, buffered, literal, function, file, line},
//              ...] in program order; the `function` of a call takes its operands and returns a tuple of its results
//     end      {kind, operands, exit, targets, arguments}: "ret" and "leave" return the operands at `exit`; "jump" and
//              "branch" go to targets[0], a branch with a false operand to targets[1], with arguments for its parameters
// The maker of the kernel adds ignored_events and reported_events: bits of the events that the code itself ignores or reports.
// Values are ints, types are {kind, dtype, shape, order}, and sizes are Python expressions over the symbols s0, s1, ...
// make_call(n): a new reference to the function of call n.
PyObject* graph_data(const Graph& graph, PyObject* (*make_call)(int));

}  // namespace accel
