#include "schedule/schedule.h"

#include <algorithm>
#include <optional>
#include <set>
#include <variant>

#include "ir/analysis/flow.h"
#include "ir/analysis/verifier.h"
#include "ir/text/text.h"
#include "schedule/analysis/disjointness.h"
#include "schedule/memory/program_state.h"
#include "schedule/memory/segment_state.h"
#include "schedule/program/verifier.h"

namespace accel {

namespace {

using graph_step = Result<bool>(GraphState&);
using segment_step = Result<bool>(SegmentState&);
using program_step = Result<bool>(ProgramState&);

}  // namespace

#define STEP(name, unit, graphs, targets) unit##_step name;
#include "schedule/steps.inc"
#undef STEP

namespace {

enum class Graphs : uint8_t { all, flow };

struct Step {
  StepInfo info;
  std::variant<graph_step*, segment_step*, program_step*> run;
};

const std::vector<Step>& table() {
  static const std::vector<Step> rows = {
#define STEP(name, unit, graphs, targets) \
  {{#name, StepUnit::unit, Graphs::graphs == Graphs::flow, StepTargets::targets}, static_cast<unit##_step*>(name)},
#include "schedule/steps.inc"
#undef STEP
  };
  return rows;
}

std::string text_of(const GraphState& state) { return print(state); }
std::string text_of(const SegmentState& state) { return print(state); }
std::string text_of(const ProgramState& state) { return print_program(state.program); }

// Verifies a graph, unless nodes have been sunk into bodies of tiled loops: there the graph alone does not define the order of
// computation.
Status check(const GraphState& state) {
  const bool has_sunk = std::any_of(state.tiled_loops.begin(), state.tiled_loops.end(), [](const auto& entry) {
    const PointwiseLoop& loop = entry.second;
    return !loop.starts.empty() || !loop.kept.empty() || !loop.ends.empty();
  });
  return has_sunk ? Status(Unit{}) : verify(state.graph);
}
Status check(const SegmentState& state) { return verify(state.program); }
Status check(const ProgramState& state) { return verify(state.program); }

class Runner {
 public:
  Runner(Graph graph, const StepOptions& options) : options_(options), has_flow_(has_flow(graph)), records_(table().size()) {
    state_.graph = std::move(graph);
    const size_t all = table().size();
    end_ = options.stop_after < 0 ? all : std::min(all, static_cast<size_t>(options.stop_after));
  }

  Result<Schedule> run() {
    for (size_t k = 0; k < end_; ++k) {
      const Step& step = table()[k];
      if (step.info.unit == StepUnit::segment) {
        const size_t first = k;
        while (k + 1 < end_ && table()[k + 1].info.unit == StepUnit::segment) ++k;
        ACCEL_TRY([[maybe_unused]] Unit lowered, has_flow_ ? run_segments(first, k + 1) : run_whole(first, k + 1));
      } else if (runs(step)) {
        ACCEL_TRY([[maybe_unused]] Unit done,
                  step.info.unit == StepUnit::graph ? apply<GraphState>(k, state_) : apply<ProgramState>(k, state_));
      }
    }
    Schedule out{std::move(state_.program), std::move(state_.notes), {}};
    for (std::optional<StepRecord>& record : records_)
      if (record) out.steps.push_back(std::move(*record));
    return out;
  }

 private:
  bool runs(const Step& step) const {
    const StepTargets own = state_.graph.target.is_device() ? StepTargets::device : StepTargets::cpu;
    return (has_flow_ || !step.info.needs_flow) && (step.info.targets == StepTargets::all || step.info.targets == own);
  }

  template <class State>
  Status apply(size_t k, State& state) {
    const Step& step = table()[k];
    if (!records_[k]) records_[k].emplace().name = step.info.name;
    StepRecord& record = *records_[k];
    if (options_.keep_text) add_text(record.before, state);
    auto run = [&] { return std::get<Result<bool> (*)(State&)>(step.run)(state); };
    ACCEL_TRY([[maybe_unused]] Unit done, run_step("step", record, options_.verify, run, [&] { return check(state); }));
    if (options_.keep_text) add_text(record.text, state);
    return Unit{};
  }

  template <class State>
  static void add_text(std::string& text, const State& state) {
    text += (text.empty() ? "" : "# the next segment, or the next run\n") + text_of(state);
  }

  // Runs steps [first, end) on one segment, again as long as a step asks for it.
  Result<Program> lower(const Graph& graph, size_t first, size_t end) {
    SegmentState segment(graph);
    do {
      segment.again = false;
      for (size_t k = first; k < end && !segment.again; ++k)
        if (runs(table()[k])) {
          ACCEL_TRY([[maybe_unused]] Unit done, apply(k, segment));
        }
    } while (segment.again);
    state_.notes.insert(state_.notes.end(), segment.notes.begin(), segment.notes.end());
    return std::move(segment.program);
  }

  Status run_whole(size_t first, size_t end) {
    ACCEL_TRY(state_.program, lower(state_.graph, first, end));
    return Unit{};
  }

  Status run_segments(size_t first, size_t end) {
    Graph& graph = state_.graph;
    std::set<BlockId> left_out;  // blocks of tiled loops
    for (const auto& [header, loop] : state_.tiled_loops) left_out.insert({loop.header, loop.body});
    Disjointness disjointness(graph);
    for (BlockId b = 0; b < static_cast<BlockId>(graph.blocks.size()); ++b) {
      const std::vector<Segment>& segments = state_.segments->of(b);
      for (size_t k = 0; k < segments.size() && !left_out.contains(b); ++k) {
        if (!has_code(graph, segments[k])) continue;
        SegmentGraph part = extract(graph, *state_.segments, segments[k], state_.places.origins, disjointness);
        ACCEL_TRY(Program program, lower(part.graph, first, end));
        graph.dims = program.dims;
        state_.lowered.emplace(std::pair(b, k), LoweredSegment{std::move(part), std::move(program)});
      }
    }
    return Unit{};
  }

  const StepOptions options_;
  const bool has_flow_;
  size_t end_ = 0;
  ProgramState state_;
  std::vector<std::optional<StepRecord>> records_;  // by row
};

}  // namespace

const std::vector<StepInfo>& schedule_steps() {
  static const std::vector<StepInfo> infos = [] {
    std::vector<StepInfo> out;
    for (const Step& step : table()) out.push_back(step.info);
    return out;
  }();
  return infos;
}

Result<Schedule> schedule(Graph graph, const StepOptions& options) { return Runner(std::move(graph), options).run(); }

}  // namespace accel
