#include "schedule/loops/packing.h"

#include <map>
#include <set>

#include "ir/text/text.h"
#include "schedule/lowering/lowering.h"

namespace accel {

namespace {

// A copy pays from this many iterations and elements on; more elements would not stay in the caches.
constexpr int64_t least_repeats = 16, least_packed = 32, most_packed = 65536;

class Packing {
 public:
  Packing(Program& program, const std::vector<int64_t>& hints) : program_(program), dims_(program.dims), hints_(hints) {}

  // Redirects loads of the nest to packed copies and returns the nests that make them; empty when nothing is packed.
  std::vector<Nest> pack(Nest& nest) {
    copies_.clear();
    stored_.clear();
    find_stored(nest.body);
    for (Stmt& stmt : nest.body)
      if (stmt.kind == StmtKind::loop) visit(stmt, {});
    std::vector<Nest> out;
    for (auto& [source, copy] : copies_) add_copy(out, source, copy);
    return out;
  }

 private:
  struct Source {
    BufferId buffer;
    Dim start, stride;  // bytes
    Dim count;
    DType dtype;
    auto operator<=>(const Source& other) const {
      return std::tuple(count.id, buffer, start.id, stride.id, dtype) <=>
             std::tuple(other.count.id, other.buffer, other.start.id, other.stride.id, other.dtype);
    }
  };

  void find_stored(const Body& body) {
    for (const Stmt& stmt : body) {
      if (is_store(stmt.kind)) stored_.insert(program_.memory_of(stmt.address.buffer));
      for (const CallOperand& operand : stmt.operands) stored_.insert(program_.memory_of(operand.address.buffer));
      find_stored(stmt.body);
    }
  }

  Dim with(Dim d, Dim variable, Dim value) {
    int symbol = *dims_.as_symbol(variable);
    return dims_.substitute(d, symbol, value);
  }

  // `around`: the enclosing loops, outermost first.
  void visit(Stmt& loop, std::vector<const Stmt*> around) {
    if (loop.loop_kind == LoopKind::simd && !around.empty() && around.size() <= 2)
      for (Stmt& stmt : loop.body)
        if (stmt.kind == StmtKind::load) replace(stmt, loop, around);
    around.push_back(&loop);
    for (Stmt& stmt : loop.body)
      if (stmt.kind == StmtKind::loop) visit(stmt, around);
  }

  void replace(Stmt& load, const Stmt& loop, const std::vector<const Stmt*>& around) {
    const Stmt* tiles = around.size() == 2 ? around[1] : nullptr;
    Dim zero = dims_.constant(0), start = with(load.address.offset, loop.var, zero);
    Dim stride = dims_.sub(with(load.address.offset, loop.var, dims_.constant(1)), start);
    if (hint(stride) <= item_size(load.dtype) || stored_.contains(program_.memory_of(load.address.buffer))) return;
    Dim place = loop.var, count = loop.extent;
    if (tiles) {
      start = with(start, tiles->var, zero);
      Dim last = dims_.sub(tiles->extent, dims_.constant(1));
      place = dims_.add(dims_.mul(tiles->var, tile_elements), place);
      count = dims_.add(dims_.mul(last, tile_elements), with(loop.extent, tiles->var, last));
    }
    if (dims_.add(start, dims_.mul(place, stride)) != load.address.offset) return;
    if (dims_.has_variables(start) || dims_.has_variables(stride) || dims_.has_variables(count)) return;
    if (hint(around[0]->extent) < least_repeats || hint(count) < least_packed || hint(count) > most_packed) return;
    Source source{load.address.buffer, start, stride, count, load.dtype};
    auto [copy, is_new] = copies_.try_emplace(source, -1);
    if (is_new) {
      std::string name = program_.buffers[static_cast<size_t>(load.address.buffer)].name + "_packed";
      copy->second = program_.add_buffer({BufferKind::temp, load.dtype, count, -1, name, {}, {}});
    }
    load.address = {copy->second, dims_.mul(place, item_size(load.dtype))};
  }

  // Its value at capture; 0 when unknown.
  int64_t hint(Dim d) const { return dims_.known(d, hints_).value_or(0); }

  // Adds the copy to the last nest if that has the same length, else to a new nest.
  void add_copy(std::vector<Nest>& nests, const Source& source, BufferId copy) {
    if (nests.empty() || nests.back().body[0].extent != source.count) {
      Nest& nest = nests.emplace_back();
      nest.name = "pack";
      nest.work = dims_.constant(0);
      Stmt& loop = nest.body.emplace_back();
      loop.kind = StmtKind::loop;
      loop.loop_kind = LoopKind::parallel;
      loop.var = dims_.new_variable();
      loop.extent = source.count;
    }
    Stmt load, store;
    Dim var = nests.back().body[0].var;
    load.kind = StmtKind::load;
    load.dtype = store.dtype = source.dtype;
    load.dst = program_.add_temp(source.dtype);
    load.address = {source.buffer, dims_.add(source.start, dims_.mul(var, source.stride))};
    store.kind = StmtKind::store;
    store.args = {load.dst};
    store.address = {copy, dims_.mul(var, item_size(source.dtype))};
    nests.back().body[0].body.push_back(std::move(load));
    nests.back().body[0].body.push_back(std::move(store));
    nests.back().work = dims_.add(nests.back().work, source.count);
  }

  Program& program_;
  DimTable& dims_;
  const std::vector<int64_t>& hints_;
  std::map<Source, BufferId> copies_;
  std::set<BufferId> stored_;
};

// Nests of parallel loops of blocks: not packed, as threads would share the packed copy.
std::set<int> shared_nests(const Program& program) {
  std::set<int> out;
  for (const ParallelLoop& loop : program.parallel_loops)
    for (int b : loop.blocks)
      for (const BlockStep& step : program.blocks[static_cast<size_t>(b)].steps) out.insert(step.nest);
  return out;
}

// Inserts the nests before each run of nest `number`.
void insert(Program& program, int number, std::vector<Nest> nests) {
  if (program.blocks.empty()) {
    program.nests.insert(program.nests.begin() + number, std::make_move_iterator(nests.begin()),
                         std::make_move_iterator(nests.end()));
    return;
  }
  std::vector<BlockStep> steps;
  for (Nest& nest : nests) {
    steps.push_back({StepKind::nest, {}, static_cast<int>(program.nests.size()), -1, {}});
    program.nests.push_back(std::move(nest));
  }
  for (ProgramBlock& block : program.blocks)
    for (size_t k = block.steps.size(); k-- > 0;)
      if (block.steps[k].kind == StepKind::nest && block.steps[k].nest == number)
        block.steps.insert(block.steps.begin() + static_cast<std::ptrdiff_t>(k), steps.begin(), steps.end());
}

}  // namespace

Result<bool> pack_columns(ProgramState& state) {
  Program& program = state.program;
  bool changed = false;
  Packing packing(program, state.graph.hints);
  std::set<int> left_out = shared_nests(program);
  for (int k = static_cast<int>(program.nests.size()); k-- > 0;) {
    if (left_out.contains(k)) continue;
    std::vector<Nest> copies = packing.pack(program.nests[static_cast<size_t>(k)]);
    if (copies.empty()) continue;
    changed = true;
    state.notes.push_back("what inner loops load with gaps is copied side by side before");
    insert(program, k, std::move(copies));
  }
  return changed;
}

}  // namespace accel
