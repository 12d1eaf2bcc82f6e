#pragma once
// Copy insertion: adds the copies that a graph with control flow needs so that every version of an array can live in one
// buffer.

#include <vector>

#include "base/result.h"
#include "schedule/graph/graph_state.h"

namespace accel {

// Rewrites a verified graph that has control flow or stores. Ensures:
// * the base of a store or put has memory of its own (a parameter, an input, or an array that is not a view) and is not
//   used after it;
// * an array argument of an edge has memory of its own, is passed once, and is not used in the target by itself; or it is
//   a version of the input that the parameter is also a version of;
// * an array that an exit receives is neither a view nor memory of an input, and is passed once.
// Each copy is reported in `notes`. Fails when a store's base is memory of an input on some paths only.
Result<bool> own_memory(GraphState& state);

// The value whose memory v reads: follows views of rank > 0 to the value that has or needs memory.
ValueId viewed(const Graph& graph, ValueId v);
// Whether v is a view of rank > 0.
bool is_array_view(const Graph& graph, ValueId v);
// Whether v is in memory when it is passed between blocks: arrays of rank > 0 and versions of inputs. `origins`: pinned_inputs
// (ir/analysis/flow.h).
bool lives_in_memory(const Graph& graph, const std::vector<int>& origins, ValueId v);

}  // namespace accel
