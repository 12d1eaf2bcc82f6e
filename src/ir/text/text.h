#pragma once
// Graph <-> text. The text is complete: print -> parse -> print is the identity. One line per symbol, input and node:
//
//   graph {
//     source 0 "kmeans.py"
//     symbol s0 "points.shape[0]" = 1000
//     input %0 "points" : array float64[s0, 3] dense
//     input %1 "weights" : array float64[s0] strided(16)
//     input %2 "scale" : py_scalar float64 slot 1
//     b0:
//       %3 = transpose(%0) {axes = [1, 0]} : array float64[3, s0] order(1, 0) @ 0:12
//       %4 = reduce(%3) {axes = [0], ufunc = add} : array float64[s0] @ 0:12
//       ret(%4)
//   }
//
// Facts about symbols are listed before the inputs, `known(s0 - 1)`: each is >= 0. Exits that no block leaves through are
// listed after the inputs, `closed 2(py_scalar int64)`. Later blocks have parameters, `b1(%5 : array bool[s0]):`, and blocks
// end in `ret(...)`, `leave 1(...)`, `jump b1(%4)` or `branch(%5) b1(%4) b2()`. Values are numbered in the order of their
// definitions; orphaned nodes are not printed.

#include <string>
#include <string_view>

#include "base/result.h"
#include "ir/graph.h"

namespace accel {

std::string print_graph(const Graph& graph);
Result<Graph> parse_graph(std::string_view text);

}  // namespace accel
