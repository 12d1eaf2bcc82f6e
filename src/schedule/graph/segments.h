#pragma once
// Segments: the parts of blocks that are scheduled one by one.

#include <set>
#include <vector>

#include "schedule/analysis/disjointness.h"

namespace accel {

struct Segment {
  BlockId block = 0;
  std::vector<NodeId> nodes;     // without effects, in program order
  std::vector<NodeId> updates;   // a store or put that ends the segment; stores that can be done row by row together; a reload,
                                 // which needs no code, is alone
  NodeId bind = -1;              // or a bind
  NodeId boxed = -1;             // or what the caller does
  std::vector<ValueId> results;  // of nodes, that others use
};

// The segments of the blocks of a graph whose memory is owned (copy_insertion.h), in program order.
class Segments {
 public:
  explicit Segments(const Graph& graph);
  const std::vector<Segment>& of(BlockId block) const { return segments_[static_cast<size_t>(block)]; }
  // Whether users of v compute it themselves.
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
  std::set<ValueId> forced_;  // have a place of their own though users could compute them
};

// Whether there is anything to compute or store in a segment.
bool has_code(const Graph& graph, const Segment& segment);

// What is computed where it is used, without memory of its own, unless somebody needs a place.
bool is_cheap_leaf(Op op);

// What a segment gives others, and what the caller gives it: values with a temp or memory of their own.
std::vector<ValueId> placed_values(const Graph& graph, const Segment& segment);

// The segment as a graph of its own, and which value of the whole graph each of its inputs and outputs is.
struct SegmentGraph {
  Graph graph;
  std::vector<ValueId> arrays;                   // values behind the array inputs, in order
  std::set<int> aliases;                         // array inputs that are further names of one that the segment stores to
  std::vector<std::pair<int, ValueId>> scalars;  // slot and value of scalar inputs that are no inputs of the whole graph
  std::vector<ValueId> outputs;                  // values behind the outputs
};
// Adds an input to `part` for a value of another segment, or of the whole graph's inputs. `next_slot`: the first slot that is
// free. `origins`: pinned_inputs (ir/analysis/flow.h) of the whole graph.
ValueId add_outside_value(const Graph& graph, const std::vector<int>& origins, ValueId v, int& next_slot, SegmentGraph& part);

// Whether all events that computing v may raise are those of lanes: none where a mask does not hold.
bool under_mask(const Graph& graph, ValueId v);

// What a store reads of its base, apart from where it stores, gets a name of its own: it may be read at any time.
SegmentGraph extract(const Graph& graph, const Segments& segments, const Segment& segment, const std::vector<int>& origins,
                     Bounds& bounds);

}  // namespace accel
