#pragma once
// Ownership: copies a graph with control flow needs so that every version of memory can live in one place.

#include <vector>

#include "base/result.h"
#include "schedule/graph/graph_state.h"

namespace accel {

// Rewrites the graph, which is verified and has control flow or stores, by inserting copies. Ensures:
// * the base of a store or put has memory of its own (a parameter, an input, or an array that is nobody's view) and is not
//   used after it;
// * an array argument of an edge has memory of its own, appears once, and nobody uses it in the target; or it is a version
//   of the input that the parameter is a version of, too;
// * an array that an exit hands over is neither a view nor memory of an input, and appears once.
// Each copy is reported in `notes`. Fails when it depends on the path whether a store goes to memory of an input.
Result<bool> own_memory(GraphState& state);

// What v is a lens on: follows views of rank > 0 to the value that has or needs memory.
ValueId viewed(const Graph& graph, ValueId v);
// Whether v is such a view.
bool is_lens(const Graph& graph, ValueId v);
// Whether v lives in memory when it crosses blocks: arrays of rank > 0 and versions of inputs. `origins`: pinned_inputs
// (ir/analysis/flow.h).
bool lives_in_memory(const Graph& graph, const std::vector<int>& origins, ValueId v);

}  // namespace accel
