#include "schedule/flow.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/flow.h"
#include "ir/text.h"
#include "schedule/absorb.h"
#include "schedule/access.h"
#include "schedule/events_first.h"
#include "schedule/interchange.h"
#include "schedule/ownership.h"
#include "schedule/parallel_loops.h"
#include "schedule/plane_loops.h"
#include "schedule/scalar_code.h"
#include "schedule/segments.h"
#include "schedule/undo.h"
#include "schedule/webs.h"

namespace accel {

namespace {

class Flow {
 public:
  Flow(const Graph& graph, std::vector<std::string>* notes) : graph_(graph), notes_(notes) {}

  Result<Program> run() {
    ACCEL_TRY([[maybe_unused]] Unit owned, own_memory(graph_, notes_));
    find_pointwise_loops();
    origins_ = pinned_inputs(graph_);
    exits_ = exits_of(graph_);
    temp_of_.assign(graph_.values.size(), -1);
    buffer_of_.assign(graph_.values.size(), -1);
    program_.symbol_count = static_cast<int>(graph_.symbols.size());
    program_.output_count = exits_.back().first_output + static_cast<int>(exits_.back().types.size());
    for (const auto& [symbol, binding] : bound_symbols(graph_)) program_.bound_symbols.push_back(symbol);
    program_.blocks.resize(graph_.blocks.size());
    add_inputs();
    Segments segments(graph_);
    bounds_.emplace(graph_);
    place(segments);
    for (BlockId b = 0; b < static_cast<BlockId>(graph_.blocks.size()); ++b) {
      if (auto found = loops_.find(b); found != loops_.end()) {
        run_loop(found->second);
        continue;
      }
      if (replaced_.contains(b)) {
        block(b).end = BlockEnd::jump;  // nothing leads here any more
        block(b).edges[0].target = b;
        continue;
      }
      for (const Segment& segment : segments.of(b)) {
        ACCEL_TRY([[maybe_unused]] Unit added, add_segment(segments, segment));
      }
      end_block(b);
    }
    program_.dims = graph_.dims;
    place_early(segments);
    meet_events_first(program_, notes_);
    protect_inputs(program_, graph_);
    share_loops();
    return std::move(program_);
  }

 private:
  ProgramBlock& block(BlockId b) { return program_.blocks[static_cast<size_t>(b)]; }
  bool in_memory(ValueId v) const { return lives_in_memory(graph_, origins_, v); }
  BufferId& buffer_of(ValueId v) { return buffer_of_[static_cast<size_t>(v)]; }
  TempId& temp_of(ValueId v) { return temp_of_[static_cast<size_t>(v)]; }

  Dim elements(ValueId v) { return graph_.dims.product(graph_.type(v).shape); }

  void add_inputs() {
    for (size_t k = 0; k < graph_.inputs.size(); ++k) {
      ValueId v = graph_.entry().params[k];
      if (graph_.inputs[k].slot >= 0) continue;
      const Type& type = graph_.type(v);
      const Input& input = graph_.inputs[k];
      Buffer buffer{BufferKind::input, type.dtype, elements(v), program_.input_count++, input.name, type.shape, {}};
      buffer.strides = input.layout == Layout::strided ? input.strides : dense_strides(graph_.dims, type);
      input_buffers_[static_cast<int>(k)] = buffer_of(v) = program_.add_buffer(std::move(buffer));
    }
  }

  // Gives every value that segments share its temp or buffer.
  void place(const Segments& segments) {
    find_direct_outputs(segments);
    std::vector<bool> apart(graph_.values.size(), false);
    for (const auto& [v, output] : direct_) apart[static_cast<size_t>(v)] = true;
    // Memory that grows has one size where it is computed: that of nobody else.
    for (size_t v = 0; v < graph_.values.size(); ++v) {
      ValueId value = static_cast<ValueId>(v);
      if (!graph_.is_input(value) && graph_.producer(value).op == Op::add_row) apart[v] = true;
    }
    webs_ = memory_webs(graph_, segments, origins_, apart);
    for (size_t b = 0; b < graph_.blocks.size(); ++b) {
      if (b > 0)
        for (ValueId v : graph_.blocks[b].params) place(v);
      if (auto found = loops_.find(static_cast<BlockId>(b)); found != loops_.end())
        for (size_t k = 0; k < found->second.states.size(); ++k)
          if (found->second.starts[k] != no_value) place(found->second.states[k]);
      for (const Segment& segment : segments.of(static_cast<BlockId>(b))) {
        for (ValueId v : placed_values(graph_, segment)) place(v);
        for (NodeId n : segment.updates)
          buffer_of(graph_.nodes[static_cast<size_t>(n)].results[0]) = -2;  // the base's, known when all is placed
      }
    }
    for (size_t v = 0; v < graph_.values.size(); ++v)
      if (buffer_of_[v] == -2) buffer_of_[v] = base_buffer(static_cast<ValueId>(v));
  }

  BufferId base_buffer(ValueId v) {
    while (buffer_of(v) == -2) v = graph_.producer(v).operands[0];
    return buffer_of(v);
  }

  void place(ValueId v) {
    const Type& type = graph_.type(v);
    int origin = origins_[static_cast<size_t>(v)];
    if (!in_memory(v)) {
      temp_of(v) = program_.add_temp(type.dtype);
    } else if (origin >= 0) {
      buffer_of(v) = input_buffers_[origin];
    } else if (auto direct = direct_.find(v); direct != direct_.end()) {
      buffer_of(v) = program_.add_buffer(
          {BufferKind::output, type.dtype, elements(v), direct->second, "v" + std::to_string(v), type.shape, {}});
    } else if (auto shared = web_buffers_.find(webs_[static_cast<size_t>(v)]); shared != web_buffers_.end()) {
      buffer_of(v) = shared->second;
    } else {
      buffer_of(v) = program_.add_buffer({BufferKind::temp, type.dtype, elements(v), -1, "v" + std::to_string(v), {}, {}});
      web_buffers_[webs_[static_cast<size_t>(v)]] = buffer_of(v);
    }
  }

  // Temps that statements outside of nests use, on every way to a normal end, and whose size is known at the start.
  void place_early(const Segments& segments) {
    std::set<BufferId> wanted;
    for (const ProgramBlock& b : program_.blocks) {
      for (const BlockStep& step : b.steps)
        for (const Stmt& stmt : step.body)
          if (stmt.address.buffer >= 0) wanted.insert(stmt.address.buffer);
    }
    for (const ProgramBlock& b : program_.blocks) {
      for (const Edge& e : b.edges)
        for (const auto& [to, from] : e.swaps) wanted.erase(to), wanted.erase(from);
      for (const BlockStep& step : b.steps)
        if (step.kind == StepKind::grow) wanted.erase(step.buffer);
    }
    Dominance dominance(graph_);
    std::set<BufferId> certain;
    for (size_t b = 0; b < graph_.blocks.size(); ++b) {
      bool ends = std::any_of(graph_.blocks.begin(), graph_.blocks.end(), [&](const Block& other) {
        return other.terminator.kind == TerminatorKind::ret &&
               dominance.dominates(static_cast<BlockId>(b), static_cast<BlockId>(&other - graph_.blocks.data()));
      });
      for (const Segment& segment : segments.of(static_cast<BlockId>(b)))
        for (ValueId v : placed_values(graph_, segment))
          if (ends && buffer_of(v) >= 0) certain.insert(buffer_of(v));
    }
    for (BufferId id : wanted) {
      const Buffer& buffer = program_.buffers[static_cast<size_t>(id)];
      bool bound = false;
      for (int symbol : graph_.dims.symbols(buffer.elements))
        bound = bound || std::count(program_.bound_symbols.begin(), program_.bound_symbols.end(), symbol) > 0;
      if (buffer.kind == BufferKind::temp && certain.contains(id) && !bound) program_.early.push_back(id);
    }
  }

  // Arrays that are computed in the block whose exit hands them over are computed in the result's memory.
  void find_direct_outputs(const Segments& segments) {
    std::vector<int> uses(graph_.values.size(), 0);
    for (const Block& b : graph_.blocks)
      for (const auto* list : {&b.terminator.operands, &b.terminator.target_arguments[0], &b.terminator.target_arguments[1]})
        for (ValueId v : *list) ++uses[static_cast<size_t>(v)];
    for (size_t b = 0; b < graph_.blocks.size(); ++b) {
      const Terminator& t = graph_.blocks[b].terminator;
      if (!is_exit(t)) continue;
      std::set<ValueId> own;
      for (const Segment& segment : segments.of(static_cast<BlockId>(b)))
        for (ValueId v : placed_values(graph_, segment)) own.insert(v);
      for (ValueId v : states_made_before(static_cast<BlockId>(b))) own.insert(v);
      int first = exits_[static_cast<size_t>(exit_number(t))].first_output;
      for (size_t k = 0; k < t.operands.size(); ++k) {
        ValueId v = t.operands[k];
        if (in_memory(v) && own.contains(v) && uses[static_cast<size_t>(v)] == 1) direct_[v] = first + static_cast<int>(k);
      }
    }
  }

  void share_loops() {
    program_.parallel_loops = parallel_loops(graph_, {origins_, buffer_of_, temp_of_}, program_);
    for (int header : run_planes_by_tiles(program_, program_.parallel_loops))
      if (notes_) notes_->push_back("the loop at block " + std::to_string(header) + " fills planes tile by tile");
    for (const ParallelLoop& loop : program_.parallel_loops)
      if (notes_) notes_->push_back("iterations of the loop at block " + std::to_string(loop.header) + " are independent");
  }

  // States whose memory comes into being with the loop that leads to block b and nowhere else.
  std::vector<ValueId> states_made_before(BlockId b) const {
    std::vector<ValueId> out;
    std::vector<BlockId> before = predecessors(graph_)[static_cast<size_t>(b)];
    auto found = before.size() == 1 ? loops_.find(before[0]) : loops_.end();
    if (found == loops_.end()) return out;
    const PointwiseLoop& loop = found->second;
    for (size_t k = 0; k < loop.states.size(); ++k)
      if (loop.starts[k] != no_value) out.push_back(loop.states[k]);
    return out;
  }

  // --- interchanged loops ---------------------------------------------------------------------------------------------

  void find_pointwise_loops() {
    Dominance dominance(graph_);
    for (const NaturalLoop& loop : natural_loops(graph_, dominance)) {
      std::optional<PointwiseLoop> found = pointwise_loop(graph_, loop);
      if (!found) continue;
      if (notes_) notes_->push_back("the loop at block " + std::to_string(loop.header) + " runs tile by tile");
      absorb_neighbours(graph_, *found);
      replaced_.insert(found->body);
      loops_.emplace(loop.header, std::move(*found));
    }
  }

  // A symbol of our own with the value of `temp` from here on.
  Dim bound(TempId temp, std::vector<BlockStep>& steps) {
    int symbol = graph_.add_symbol("", 1);
    program_.bound_symbols.push_back(symbol);
    Stmt bind;
    bind.kind = StmtKind::bind;
    bind.dim = graph_.dims.symbol(symbol);
    bind.args = {temp};
    Dim d = bind.dim;
    append(std::move(bind), steps);
    return d;
  }

  TempId scalar_or_leaf(ValueId v, std::vector<BlockStep>& steps) {
    bool leaf = !graph_.is_input(v) && temp_of(v) < 0;
    if (!leaf) return scalar(v, steps);
    Stmt stmt;
    const Node& node = graph_.producer(v);
    stmt.kind = node.op == Op::constant ? StmtKind::constant : StmtKind::index;
    stmt.dtype = graph_.type(v).dtype;
    stmt.dst = program_.add_temp(stmt.dtype);
    if (node.op == Op::constant)
      stmt.literal = node.attrs.literal;
    else
      stmt.dim = node.attrs.dims[0];
    TempId temp = stmt.dst;
    append(std::move(stmt), steps);
    return temp;
  }

  void run_loop(const PointwiseLoop& loop) {
    ProgramBlock& out = block(loop.header);
    TempId counter = temp_of(loop.counter);
    Dim first = bound(counter, out.steps), end = bound(scalar_or_leaf(loop.end, out.steps), out.steps);
    Dim count = graph_.dims.max(graph_.dims.sub(end, first), graph_.dims.constant(0));
    SegmentGraph part;
    Program program = lower_pointwise_loop(graph_, origins_, loop, first, count, part);
    graph_.dims = program.dims;
    merge(part, std::move(program), out.steps);
    Stmt last;
    last.kind = StmtKind::index;
    last.dtype = DType::int64;
    last.dst = program_.add_temp(DType::int64);
    last.dim = graph_.dims.max(end, first);
    Stmt set;
    set.kind = StmtKind::assign;
    set.dtype = DType::int64;
    set.dst = counter;
    set.args = {last.dst};
    append(std::move(last), out.steps);
    append(std::move(set), out.steps);
    if (loop.bound) {
      Stmt bind;
      bind.kind = StmtKind::bind;
      bind.dim = graph_.dims.symbol(*loop.bound);
      bind.args = {counter};
      append(std::move(bind), out.steps);
    }
    const Terminator& t = graph_.blocks[static_cast<size_t>(loop.header)].terminator;
    out.end = BlockEnd::jump;
    out.edges[0] = edge(t, loop.exit_edge, out.steps);
  }

  // --- segments -------------------------------------------------------------------------------------------------------

  Status add_segment(const Segments& segments, const Segment& segment) {
    std::vector<BlockStep>& steps = block(segment.block).steps;
    bool reloads = !segment.updates.empty() && graph_.nodes[static_cast<size_t>(segment.updates[0])].op == Op::reload;
    if (!reloads && (!segment.nodes.empty() || !segment.updates.empty())) {
      SegmentGraph part = extract(graph_, segments, segment, origins_, *bounds_);
      ACCEL_TRY(Program program, schedule_block(part.graph, notes_));
      graph_.dims = program.dims;
      for (NodeId n : segment.updates) add_grow(graph_.nodes[static_cast<size_t>(n)], steps);
      merge(part, std::move(program), steps);
    }
    if (segment.boxed >= 0) add_boxed(graph_.nodes[static_cast<size_t>(segment.boxed)], steps);
    if (segment.bind >= 0) add_bind(graph_.nodes[static_cast<size_t>(segment.bind)], steps);
    return Unit{};
  }

  void add_grow(const Node& node, std::vector<BlockStep>& steps) {
    if (node.op == Op::add_row)
      steps.push_back({StepKind::grow, {}, -1, buffer_of(node.results[0]), elements(node.results[0])});
  }

  void add_bind(const Node& node, std::vector<BlockStep>& steps) {
    Stmt bind;
    bind.kind = StmtKind::bind;
    bind.dim = node.attrs.dims[0];
    bind.args = {scalar(node.operands[0], steps)};
    temp_of(node.results[0]) = bind.args[0];
    append(std::move(bind), steps);
  }

  void add_boxed(const Node& node, std::vector<BlockStep>& steps) {
    Stmt stmt;
    ValueId result = node.results[0];
    stmt.dtype = graph_.type(result).dtype;
    if (temp_of(result) >= 0) stmt.dst = temp_of(result);
    if (node.op == Op::draw) {
      stmt.kind = StmtKind::draw;
      stmt.numbers = {node.attrs.call};
      for (ValueId v : node.operands) stmt.args.push_back(scalar_or_leaf(v, steps));
    } else if (op_has_call(node.op)) {
      stmt.kind = node.op == Op::call ? StmtKind::boxed : StmtKind::python;
      stmt.numbers = {node.attrs.call};
      for (ValueId v : node.operands) add_operand(v, stmt, steps);
    } else {
      stmt.kind = node.op == Op::extent ? StmtKind::extent : stmt.dst >= 0 ? StmtKind::receive : StmtKind::receive_array;
      stmt.numbers = {graph_.producer(node.operands[0]).attrs.call};
      stmt.numbers.insert(stmt.numbers.end(), node.attrs.axes.begin(), node.attrs.axes.end());
    }
    if (stmt.kind == StmtKind::receive_array) {
      stmt.address = {buffer_of(result), graph_.dims.constant(0)};
      stmt.core_dims = graph_.type(result).shape;
      steps.push_back({StepKind::scalars, {}, -1, -1});  // memory is provided at its start, for extents bound before
    }
    append(std::move(stmt), steps);
  }

  void add_operand(ValueId v, Stmt& call, std::vector<BlockStep>& steps) {
    CallOperand operand{{-1, graph_.dims.constant(0)}, {}};
    if (in_memory(v)) {
      operand.address.buffer = buffer_of(v);
      const Type& type = graph_.type(v);
      const Buffer& buffer = program_.buffers[static_cast<size_t>(buffer_of(v))];
      std::vector<Dim> strides = buffer.kind == BufferKind::input ? buffer.strides : dense_strides(graph_.dims, type);
      call.core_dims.insert(call.core_dims.end(), type.shape.begin(), type.shape.end());
      call.core_strides.insert(call.core_strides.end(), strides.begin(), strides.end());
    } else {
      call.args.push_back(scalar_or_leaf(v, steps));
    }
    call.operands.push_back(operand);
  }

  void append(Stmt stmt, std::vector<BlockStep>& steps) {
    if (steps.empty() || steps.back().kind != StepKind::scalars) steps.push_back({StepKind::scalars, {}, -1, -1});
    steps.back().body.push_back(std::move(stmt));
  }

  // The temp of a scalar; an input is read here.
  TempId scalar(ValueId v, std::vector<BlockStep>& steps) {
    if (temp_of(v) >= 0) return temp_of(v);
    Stmt stmt;
    stmt.dtype = graph_.type(v).dtype;
    stmt.dst = program_.add_temp(stmt.dtype);
    if (buffer_of(v) >= 0) {
      stmt.kind = StmtKind::load;
      stmt.address = {buffer_of(v), graph_.dims.constant(0)};
    } else {
      stmt.kind = StmtKind::input;
      stmt.slot = graph_.inputs[static_cast<size_t>(graph_.input_index(v))].slot;
    }
    TempId temp = stmt.dst;
    append(std::move(stmt), steps);
    return temp;
  }

  // Takes over the nests of a segment's program under the names of the whole one.
  void merge(const SegmentGraph& part, Program program, std::vector<BlockStep>& steps) {
    names_ = {};
    std::map<BufferId, ValueId> scalar_outputs;
    for (const Buffer& buffer : program.buffers) {
      BufferId id = static_cast<BufferId>(names_.buffers.size());
      if (buffer.kind == BufferKind::input) {
        BufferId own = buffer_of(part.arrays[static_cast<size_t>(buffer.binding)]);
        names_.buffers.push_back(part.aliases.contains(buffer.binding) ? alias_of(own) : own);
      } else if (buffer.kind == BufferKind::output) {
        ValueId v = part.outputs[static_cast<size_t>(buffer.binding)];
        if (!in_memory(v)) scalar_outputs[id] = v;
        names_.buffers.push_back(in_memory(v) ? buffer_of(v) : -1);
      } else if (is_scalar_local(graph_.dims, program, id)) {
        names_.locals[id] = -1;
        names_.buffers.push_back(-1);
      } else {
        names_.buffers.push_back(program_.add_buffer(buffer));
      }
    }
    for (const LoopImport& import : program.imports) names_.imports.push_back(program_.add_import(import));
    names_.first_temp = static_cast<TempId>(program_.temps.size());
    program_.temps.insert(program_.temps.end(), program.temps.begin(), program.temps.end());
    for (const auto& [slot, v] : part.scalars) names_.slots[slot] = v;
    for (Nest& nest : program.nests) add_nest(std::move(nest), scalar_outputs, steps);
  }

  BufferId alias_of(BufferId id) {
    if (auto known = aliases_.find(id); known != aliases_.end()) return known->second;
    const Buffer& info = program_.buffers[static_cast<size_t>(id)];
    return aliases_[id] = program_.add_buffer({BufferKind::alias, info.dtype, info.elements, id, info.name, {}, {}});
  }
  // Scalar steps have one name for each memory.
  void drop_aliases(Body& body) {
    for (Stmt& stmt : body)
      if (stmt.address.buffer >= 0) stmt.address.buffer = program_.memory_of(stmt.address.buffer);
  }

  void add_nest(Nest nest, const std::map<BufferId, ValueId>& scalar_outputs, std::vector<BlockStep>& steps) {
    bool is_scalar = is_scalar_code(nest.body);
    std::vector<std::pair<ValueId, BufferId>> cells;
    if (!is_scalar) {
      for (const auto& [own, v] : scalar_outputs) {
        names_.buffers[static_cast<size_t>(own)] = -1;
        if (!stores_to(nest.body, own)) continue;
        DType dtype = graph_.type(v).dtype;
        BufferId cell =
            program_.add_buffer({BufferKind::cell, dtype, graph_.dims.constant(1), -1, "v" + std::to_string(v), {}, {}});
        names_.buffers[static_cast<size_t>(own)] = cell;
        cells.emplace_back(v, cell);
      }
    }
    Body body = renamed(std::move(nest.body), scalar_outputs);
    if (is_scalar) {
      drop_aliases(body);
      for (Stmt& stmt : body) append(std::move(stmt), steps);
      return;
    }
    nest.body = std::move(body);
    program_.nests.push_back(std::move(nest));
    steps.push_back({StepKind::nest, {}, static_cast<int>(program_.nests.size()) - 1, -1});
    for (const auto& [v, cell] : cells) {
      Stmt load;
      load.kind = StmtKind::load;
      load.dtype = graph_.type(v).dtype;
      load.address = {cell, graph_.dims.constant(0)};
      load.dst = temp_of(v);
      append(std::move(load), steps);
    }
  }

  static bool stores_to(const Body& body, BufferId id) {
    return std::any_of(body.begin(), body.end(), [&](const Stmt& stmt) {
      return (stmt.kind == StmtKind::store && stmt.address.buffer == id) || stores_to(stmt.body, id) ||
             std::any_of(stmt.operands.begin(), stmt.operands.end(),
                         [&](const CallOperand& o) { return o.address.buffer == id; });
    });
  }

  TempId renamed(TempId temp) const {
    auto found = names_.temps.find(temp);
    return found != names_.temps.end() ? found->second : temp + names_.first_temp;
  }
  BufferId renamed_buffer(BufferId id) const { return id < 0 ? id : names_.buffers[static_cast<size_t>(id)]; }

  Body renamed(Body body, const std::map<BufferId, ValueId>& scalar_outputs) {
    Body out;
    for (Stmt& stmt : body) {
      if (stmt.kind == StmtKind::input && names_.slots.contains(stmt.slot)) {
        names_.temps[stmt.dst] = temp_of(names_.slots.at(stmt.slot));
        continue;
      }
      // A scalar of an earlier nest.
      if (stmt.kind == StmtKind::load && scalar_outputs.contains(stmt.address.buffer) &&
          renamed_buffer(stmt.address.buffer) < 0) {
        ValueId whole = scalar_outputs.at(stmt.address.buffer);
        if (graph_.type(whole).dtype != stmt.dtype) {
          out.push_back(part_of(std::move(stmt), temp_of(whole)));
        } else {
          names_.temps[stmt.dst] = temp_of(whole);
        }
        continue;
      }
      for (TempId& arg : stmt.args) arg = renamed(arg);
      if (auto local = names_.locals.find(stmt.address.buffer); local != names_.locals.end()) {
        if (stmt.kind == StmtKind::store)
          local->second = stmt.args[0];
        else
          names_.temps[stmt.dst] = local->second;
        continue;
      }
      if (stmt.dst >= 0) stmt.dst = renamed(stmt.dst);
      if (stmt.import >= 0) stmt.import = names_.imports[static_cast<size_t>(stmt.import)];
      for (CallOperand& operand : stmt.operands) operand.address.buffer = renamed_buffer(operand.address.buffer);
      stmt.node = -1;
      bool to_scalar = stmt.kind == StmtKind::store && renamed_buffer(stmt.address.buffer) < 0;
      if (to_scalar) {
        stmt.kind = StmtKind::assign;
        stmt.dst = temp_of(scalar_outputs.at(stmt.address.buffer));
        stmt.address = {};
      } else {
        stmt.address.buffer = renamed_buffer(stmt.address.buffer);
      }
      stmt.body = renamed(std::move(stmt.body), scalar_outputs);
      out.push_back(std::move(stmt));
    }
    return out;
  }

  // A load of the real or imaginary part from what is a scalar here.
  Stmt part_of(Stmt load, TempId whole) const {
    load.kind = StmtKind::compute;
    load.op = graph_.dims.is_constant(load.address.offset, 0) ? Op::real : Op::imag;
    load.args = {whole};
    load.dst = renamed(load.dst);
    load.address = {};
    load.node = -1;
    return load;
  }

  // --- ends of blocks -------------------------------------------------------------------------------------------------

  void end_block(BlockId b) {
    const Terminator& t = graph_.blocks[static_cast<size_t>(b)].terminator;
    ProgramBlock& out = block(b);
    for (int k = 0; k < target_count(t); ++k) out.edges[k] = edge(t, k, out.steps);
    switch (t.kind) {
      case TerminatorKind::jump:
        out.end = BlockEnd::jump;
        break;
      case TerminatorKind::branch:
        out.end = BlockEnd::branch;
        out.condition = scalar(t.operands[0], out.steps);
        break;
      default:
        end_with_exit(t, out);
    }
  }

  Edge edge(const Terminator& t, int k, std::vector<BlockStep>& steps) {
    Edge out;
    out.target = t.targets[k];
    const std::vector<ValueId>& params = graph_.blocks[static_cast<size_t>(t.targets[k])].params;
    std::map<BufferId, BufferId> now;  // where the memory of a buffer is after the swaps so far
    auto where = [&](BufferId id) { return now.contains(id) ? now[id] : id; };
    for (size_t i = 0; i < params.size(); ++i) {
      ValueId v = t.target_arguments[k][i];
      if (!in_memory(params[i])) {
        TempId from = scalar(v, steps);
        if (from != temp_of(params[i])) out.scalars.emplace_back(temp_of(params[i]), from);
        continue;
      }
      BufferId from = where(buffer_of(v)), to = buffer_of(params[i]);
      if (from == to) continue;
      out.swaps.emplace_back(to, from);
      for (const BufferId id : {buffer_of(v), to}) now.try_emplace(id, id);
      for (auto& [id, place] : now) place = place == to ? from : place == from ? to : place;
    }
    return out;
  }

  void end_with_exit(const Terminator& t, ProgramBlock& out) {
    out.end = BlockEnd::exit;
    out.exit = exit_number(t);
    int first = exits_[static_cast<size_t>(out.exit)].first_output;
    for (size_t k = 0; k < t.operands.size(); ++k) {
      ValueId v = t.operands[k];
      const Type& type = graph_.type(v);
      ExitOutput output{first + static_cast<int>(k), -1, -1, type.dtype, type.shape};
      if (in_memory(v))
        output.buffer = buffer_of(v);
      else
        output.scalar = scalar(v, out.steps);
      out.outputs.push_back(std::move(output));
    }
  }

  // What names of a segment's program are called in the whole one.
  struct Names {
    std::vector<BufferId> buffers;
    std::vector<int> imports;
    TempId first_temp = 0;
    std::map<TempId, TempId> temps;
    std::map<int, ValueId> slots;
    std::map<BufferId, TempId> locals;  // buffers that are temps here: what they hold
  };

  Graph graph_;
  std::vector<std::string>* notes_;
  Program program_;
  std::vector<int> origins_;
  std::vector<ExitOutputs> exits_;
  std::vector<TempId> temp_of_;
  std::vector<BufferId> buffer_of_;
  std::map<int, BufferId> input_buffers_;
  std::map<BufferId, BufferId> aliases_;
  std::map<ValueId, int> direct_;
  std::vector<ValueId> webs_;
  std::optional<Bounds> bounds_;
  std::map<ValueId, BufferId> web_buffers_;
  Names names_;
  std::map<BlockId, PointwiseLoop> loops_;
  std::set<BlockId> replaced_;
};

}  // namespace

Result<Program> schedule_flow(const Graph& graph, std::vector<std::string>* notes) { return Flow(graph, notes).run(); }

}  // namespace accel
