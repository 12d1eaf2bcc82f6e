#include "schedule/lowering/state_elements.h"

#include <algorithm>

#include "schedule/analysis/index_maps.h"

namespace accel {

namespace {

class ElementWriter {
 public:
  ElementWriter(const Graph& graph, const Placement& placement, Program& program, const PointwiseLoop& loop)
      : graph_(graph), lowering_(graph, placement, program), dims_(program.dims), loop_(loop) {}

  Nest write(const std::vector<StoreTarget>& targets, const std::vector<NestLoop>& loops, Dim iteration, Dim count) {
    const std::vector<Dim>& shape = graph_.type(loop_.states[0]).shape;
    index_.assign(shape.size(), dims_.constant(0));
    for (const NestLoop& loop : loops) index_[static_cast<size_t>(loop.axis)] = dims_.new_variable();
    Nest nest;
    nest.name = "iterations";
    nest.body = start();
    nest.body.push_back(iterations(targets, iteration, count));
    for (Stmt& stmt : end(targets)) nest.body.push_back(std::move(stmt));
    for (size_t k = loops.size(); k-- > 0;) nest.body = over(loops[k], std::move(nest.body));
    const Dim nodes = dims_.constant(static_cast<int64_t>(graph_.nodes.size()));
    nest.work = dims_.mul(dims_.mul(dims_.product(shape), count), nodes);
    return nest;
  }

 private:
  Body over(const NestLoop& loop, Body body) const {
    Stmt stmt;
    stmt.kind = StmtKind::loop;
    stmt.loop_kind = LoopKind::parallel;
    stmt.var = index_[static_cast<size_t>(loop.axis)];
    stmt.extent = loop.extent;
    stmt.body = std::move(body);
    Body out;
    out.push_back(std::move(stmt));
    return out;
  }

  // The state before the first iteration, and elements of other arrays, which are the same in all iterations.
  Body start() {
    lowering_.begin_nest();
    auto is_whole = [&](ValueId v) { return graph_.type(v).shape == graph_.type(loop_.states[0]).shape; };
    auto is_state = [&](ValueId v) { return std::find(loop_.states.begin(), loop_.states.end(), v) != loop_.states.end(); };
    for (ValueId v : graph_.entry().params)
      if (is_whole(v) && !is_state(v)) same_.emplace_back(v, lowering_.value_at(v, index_));
    for (ValueId v : loop_.kept) same_.emplace_back(v, lowering_.value_at(v, index_));
    for (size_t k = 0; k < loop_.states.size(); ++k) {
      const bool is_computed = k < loop_.starts.size() && loop_.starts[k] != no_value;
      const TempId first = lowering_.value_at(is_computed ? loop_.starts[k] : loop_.states[k], index_);
      state_.push_back(lowering_.declare(first, graph_.type(loop_.states[k]).dtype));
    }
    return lowering_.end_nest();
  }

  // Makes the temps known in a new part of the nest.
  void begin_part() {
    lowering_.begin_nest();
    for (const auto& [v, temp] : same_) lowering_.set_value(v, index_, temp);
    for (size_t k = 0; k < state_.size(); ++k) lowering_.set_value(loop_.states[k], index_, state_[k]);
  }

  Stmt iterations(const std::vector<StoreTarget>& targets, Dim iteration, Dim count) {
    begin_part();
    std::vector<TempId> next;
    for (const StoreTarget& target : targets) next.push_back(lowering_.value_at(target.value, index_));
    TempId changes = -1;
    for (ValueId mask : loop_.changing) {
      const TempId changes_here = lowering_.value_at(mask, index_);
      changes = changes < 0 ? changes_here : lowering_.compute(Op::logical_or, {changes, changes_here}, DType::bool_, -1);
    }
    for (size_t k = 0; k < state_.size(); ++k) lowering_.assign(state_[k], next[k], graph_.type(loop_.states[k]).dtype);
    Stmt repeat;
    repeat.kind = StmtKind::repeat;
    repeat.var = iteration;
    repeat.extent = count;
    repeat.quiet = true;
    if (changes >= 0) repeat.args = {changes};
    repeat.body = lowering_.end_nest();
    return repeat;
  }

  Body end(const std::vector<StoreTarget>& targets) {
    begin_part();
    std::vector<TempId> values;
    for (ValueId v : loop_.ends) values.push_back(lowering_.value_at(v, index_));
    for (size_t k = 0; k < values.size(); ++k)
      lowering_.store(lowering_.address_of(targets[k], index_), values[k], graph_.type(loop_.ends[k]).dtype);
    return lowering_.end_nest();
  }

  const Graph& graph_;
  Lowering lowering_;
  DimTable& dims_;
  const PointwiseLoop& loop_;
  Index index_;
  std::vector<std::pair<ValueId, TempId>> same_;  // elements that are equal in all iterations
  std::vector<TempId> state_;                     // by state: its temp
};

}  // namespace

Nest lower_iterations_of_elements(const Graph& body, const Placement& placement, Program& program, const PointwiseLoop& loop,
                                  const std::vector<StoreTarget>& targets, const std::vector<NestLoop>& loops, Dim iteration,
                                  Dim count) {
  return ElementWriter(body, placement, program, loop).write(targets, loops, iteration, count);
}

}  // namespace accel
