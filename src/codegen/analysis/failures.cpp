#include "codegen/analysis/failures.h"

#include <algorithm>
#include <set>

namespace accel {

namespace {

constexpr size_t most_outputs = 16;  // outputs of exits whose memory is tested one by one

const Body& body_of(const Program& program, const BlockStep& step) {
  return step.kind == StepKind::nest ? program.nests[static_cast<size_t>(step.nest)].body : step.body;
}

// Whether a loop of NumPy's or a call of the caller's may report an error, or a loop polls for interruption.
bool may_report(const Program& program, const Body& body) {
  return std::any_of(body.begin(), body.end(), [&](const Stmt& stmt) {
    bool boxed = stmt.kind == StmtKind::boxed || stmt.kind == StmtKind::python || stmt.kind == StmtKind::receive ||
                 stmt.kind == StmtKind::receive_array;
    if (boxed || stmt.kind == StmtKind::draw) return true;
    if (stmt.kind == StmtKind::repeat && !stmt.quiet) return true;  // it may be interrupted
    bool raises = stmt.kind == StmtKind::call &&
                  (op_events(stmt.op, program.imports[static_cast<size_t>(stmt.import)].dtypes[0]) & event_error) != 0;
    return raises || may_report(program, stmt.body);
  });
}

// Whether the functions of a body have their scratch on the stack, however they are cut.
bool is_on_stack(const Program& program, const Body& body) {
  int64_t bytes = 0;
  for (BufferId id : buffers_of(body)) {
    const Buffer& buffer = program.buffers[static_cast<size_t>(id)];
    if (buffer.kind != BufferKind::scratch) continue;
    auto elements = program.dims.as_constant(buffer.elements);
    if (!elements || *elements <= 0) return false;
    bytes += *elements * item_size(buffer.dtype);
  }
  return bytes <= most_stack_scratch;
}

void add(const Program& program, const Facts& facts, const BlockStep& step, Failures& out) {
  const Body& body = body_of(program, step);
  int events = facts.events(body);
  out.others |= (events & event_error) != 0 || may_report(program, body) || !is_on_stack(program, body);
  out.events |= events & ~event_error;
  if (program.blocks.size() == 1) return;
  for (BufferId id : buffers_of(body)) {
    BufferKind kind = program.buffers[static_cast<size_t>(id)].kind;
    out.others |= kind == BufferKind::temp || kind == BufferKind::output;
  }
}

using Successors = std::vector<std::vector<size_t>>;  // by block

Successors forward(const Program& program) {
  Successors out(program.blocks.size());
  for (size_t b = 0; b < out.size(); ++b)
    for (const Edge& edge : edges_of(program.blocks[b])) out[b].push_back(static_cast<size_t>(edge.target));
  return out;
}

Successors reversed(const Successors& successors) {
  Successors out(successors.size());
  for (size_t b = 0; b < successors.size(); ++b)
    for (size_t target : successors[b]) out[target].push_back(b);
  return out;
}

// Blocks that a path of at least one edge leads to.
std::set<size_t> reachable(const Successors& successors, size_t from) {
  std::set<size_t> out;
  std::vector<size_t> open = successors[from];
  while (!open.empty()) {
    size_t block = open.back();
    open.pop_back();
    if (out.insert(block).second) open.insert(open.end(), successors[block].begin(), successors[block].end());
  }
  return out;
}

}  // namespace

bool is_number(const ExitOutput& output) { return output.buffer < 0 && output.shape.empty(); }

Failures failures_from(const Program& program, const Facts& facts, const PolledEdges& polls, size_t block, size_t first) {
  Failures out;
  Successors successors = forward(program);
  std::set<size_t> blocks = reachable(successors, block);
  size_t skipped = blocks.contains(block) ? 0 : first;
  blocks.insert(block);
  out.others = std::any_of(polls.begin(), polls.end(), [&](const auto& edge) {
    return blocks.contains(edge.first.first) && program.blocks[edge.first.first].poll == 0;
  });
  for (size_t b : blocks) {
    const ProgramBlock& each = program.blocks[b];
    for (size_t k = b == block ? skipped : 0; k < each.steps.size(); ++k) add(program, facts, each.steps[k], out);
    if (program.blocks.size() == 1) continue;
    for (const ExitOutput& output : each.outputs)
      is_number(output) ? out.outputs.push_back(output.output) : void(out.others = true);
  }
  out.others |= out.outputs.size() > most_outputs;
  return out;
}

int events_before(const Program& program, const Facts& facts, size_t block, size_t step) {
  int events = 0;
  std::set<size_t> blocks = reachable(reversed(forward(program)), block);
  size_t count = blocks.contains(block) ? program.blocks[block].steps.size() : step;
  blocks.insert(block);
  for (size_t b : blocks) {
    const std::vector<BlockStep>& steps = program.blocks[b].steps;
    for (size_t k = 0; k < (b == block ? count : steps.size()); ++k) events |= facts.events(body_of(program, steps[k]));
  }
  return events & ~event_error;
}

}  // namespace accel
