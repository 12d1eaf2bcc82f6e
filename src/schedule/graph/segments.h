#pragma once
// Segments: the parts of blocks that are scheduled one by one.

#include <set>
#include <vector>

#include "schedule/analysis/disjointness.h"

namespace accel {

struct Segment {
  BlockId block = 0;
  std::vector<NodeId> nodes;     // without effects, in program order
  std::vector<NodeId> updates;   // a store or put that ends the segment, or several stores that go row by row together; a
                                 // reload, which needs no code, is alone
  NodeId bind = -1;              // or the bind that ends it
  NodeId boxed = -1;             // or the call to the caller that ends it
  std::vector<ValueId> results;  // results of nodes that other segments use
};

// The segments of each block in program order. Requires a graph whose memory is owned (copy_insertion.h).
class Segments {
 public:
  explicit Segments(const Graph& graph);
  const std::vector<Segment>& of(BlockId block) const { return segments_[static_cast<size_t>(block)]; }
  // Whether v is not shared: each segment that uses it computes it.
  bool is_cloned(ValueId v) const;

 private:
  void find_forced();
  void cut(BlockId block);
  void join_stores(BlockId block);
  bool joins(const Segment& first, const Segment& second) const;
  void find_results();
  void note_use(ValueId v, int user, std::vector<int>& segment_of, std::set<ValueId>& shared);

  const Graph& graph_;
  std::vector<std::vector<Segment>> segments_;
  std::set<ValueId> forced_;  // cheap leaves that need a temp or buffer
};

// Whether there is anything to compute or store in a segment.
bool has_code(const Graph& graph, const Segment& segment);

// Ops whose results are computed at each use and have no memory, unless a store, call or edge needs them in one.
bool is_cheap_leaf(Op op);

// The values that a segment, or the call that ends it, puts into temps or buffers.
std::vector<ValueId> placed_values(const Graph& graph, const Segment& segment);

// A segment as a graph of its own, with the values of the whole graph that its inputs and outputs stand for.
struct SegmentGraph {
  Graph graph;
  std::vector<ValueId> arrays;                   // values of the array inputs
  std::set<int> aliases;                         // array inputs that alias one that the segment stores to
  std::vector<std::pair<int, ValueId>> scalars;  // slot and value of scalar inputs that are not inputs of the whole graph
  std::vector<ValueId> outputs;                  // values of the outputs
};
// Adds an input to `part` for an input of the whole graph or a value of another segment. `next_slot`: the first free slot.
// `origins`: pinned_inputs (ir/analysis/flow.h) of the whole graph.
ValueId add_outside_value(const Graph& graph, const std::vector<int>& origins, ValueId v, int& next_slot, SegmentGraph& part);

// Whether computing v raises events only for lanes that are selected by a mask.
bool under_mask(const Graph& graph, ValueId v);

// Extracts a segment as a graph. Parts of a store's base that are disjoint from the stored part become aliases, which may be
// read at any time.
SegmentGraph extract(const Graph& graph, const Segments& segments, const Segment& segment, const std::vector<int>& origins,
                     Disjointness& disjointness);

}  // namespace accel
