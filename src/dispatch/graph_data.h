#pragma once
// A graph as plain Python data, for backends written in Python.

#include <Python.h>

#include "ir/graph.h"

namespace accel {

// New reference: a dict of
//   symbols  [name, ...]
//   inputs   [{value, name, kind, dtype, shape, order, layout, slot}, ...]
//   nodes    [{op, class, operands, results, types, axes, dims, steps, ufunc, buffered, literal, file, line}, ...] in program
//   order outputs  [value, ...]
// where values are ints, types are {kind, dtype, shape, order} and sizes are Python expressions over s0, s1, ... (the symbols).
// Null with an exception.
PyObject* graph_data(const Graph& graph);

}  // namespace accel
