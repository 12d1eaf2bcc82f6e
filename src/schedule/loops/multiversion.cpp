#include "schedule/loops/multiversion.h"

#include <algorithm>
#include <map>
#include <set>

namespace accel {

namespace {

constexpr int64_t smallest = 2, largest = 16, most_iterations = 64;
constexpr size_t most_nests = 8;      // in a program with blocks, for a variant that copies all of them
constexpr size_t most_copies = 16;    // when nests are copied individually
constexpr int64_t least_work = 4096;  // that makes a nest worth a copy

void collect_inner_extents(const DimTable& dims, const Body& body, bool inner, std::set<int>& symbols) {
  for (const Stmt& stmt : body) {
    bool loops = stmt.extent.id >= 0 && stmt.kind != StmtKind::call;
    if (loops && inner)
      for (int symbol : dims.symbols(stmt.extent))
        if (!DimTable::is_variable(symbol)) symbols.insert(symbol);
    collect_inner_extents(dims, stmt.body, inner || loops, symbols);
  }
}

// Symbols of outermost loops. Fixing them would restrict the copy to one problem size.
void collect_outer_extents(const DimTable& dims, const Body& body, std::set<int>& symbols) {
  for (const Stmt& stmt : body)
    if (stmt.extent.id >= 0)
      for (int symbol : dims.symbols(stmt.extent)) symbols.insert(symbol);
}

// Symbols of a nest's loops.
struct Extents {
  std::set<int> inner, outer;
};

Extents extents_of(const DimTable& dims, const Nest& nest) {
  Extents out;
  collect_inner_extents(dims, nest.body, false, out.inner);
  collect_outer_extents(dims, nest.body, out.outer);
  return out;
}

class Small {
 public:
  Small(const Program& program, const Graph& graph) : program_(program), hints_(graph.hints) {
    size_t count = hints_.size();
    for (int symbol : program.bound_symbols) {
      bound_.insert(symbol);
      count = std::max(count, static_cast<size_t>(symbol) + 1);
    }
    hints_.resize(count, 1);
  }

  // The given symbols that were small at capture and do not change during a run, with their values.
  std::vector<std::pair<int, int64_t>> fixed(const std::set<int>& symbols) const {
    std::vector<std::pair<int, int64_t>> out;
    int64_t iterations = 1;
    for (int symbol : symbols) {
      int64_t hint = hints_[static_cast<size_t>(symbol)];
      bool is_small = hint >= smallest && hint <= largest && iterations * hint <= most_iterations;
      if (bound_.contains(symbol) || !is_small) continue;
      iterations *= hint;
      out.emplace_back(symbol, hint);
    }
    return out;
  }

  bool is_worth_a_copy(const Nest& nest) const {
    if (nest.work.id < 0) return false;
    std::optional<int64_t> work = program_.dims.known(nest.work, hints_);
    return work && *work >= least_work;
  }

 private:
  const Program& program_;
  std::vector<int64_t> hints_;
  std::set<int> bound_;
};

// Copies nests individually. A symbol that is only an inner extent in some nest is small by nature, and is also fixed in nests
// where it is an outermost extent.
void add_variants_of_nests(Program& program, const Small& small) {
  std::vector<Extents> extents;
  std::set<int> inner;
  for (const Nest& nest : program.nests) {
    Extents& own = extents.emplace_back(extents_of(program.dims, nest));
    for (int symbol : own.inner)
      if (!own.outer.contains(symbol)) inner.insert(symbol);
  }
  std::set<int> rare;  // nests that run only before a side exit
  for (const ProgramBlock& block : program.blocks)
    for (const BlockStep& step : block.steps)
      if (block.end == BlockEnd::exit && block.exit > 0) rare.insert(step.nest);
  std::map<std::vector<std::pair<int, int64_t>>, std::vector<int>> nests_of;
  size_t copies = 0;
  for (size_t k = 0; k < program.nests.size() && copies < most_copies; ++k) {
    std::set<int> own = extents[k].inner;
    own.merge(extents[k].outer);
    std::erase_if(own, [&](int symbol) { return !inner.contains(symbol); });
    auto fixed = small.fixed(own);
    if (fixed.empty() || rare.contains(static_cast<int>(k)) || !small.is_worth_a_copy(program.nests[k])) continue;
    nests_of[fixed].push_back(static_cast<int>(k));
    ++copies;
  }
  for (auto& [fixed, nests] : nests_of) program.variants.push_back({fixed, std::move(nests)});
}

void add_small_extent_variants(Program& program, const Graph& graph) {
  Small small(program, graph);
  if (!program.blocks.empty() && program.nests.size() > most_nests) return add_variants_of_nests(program, small);
  std::set<int> inner, outer;
  for (const Nest& nest : program.nests) {
    Extents own = extents_of(program.dims, nest);
    inner.merge(own.inner);
    outer.merge(own.outer);
  }
  std::erase_if(inner, [&](int symbol) { return outer.contains(symbol); });
  Variant variant{small.fixed(inner), {}};
  if (!variant.fixed.empty()) program.variants.push_back(std::move(variant));
}

}  // namespace

Result<bool> fix_small_extents(ProgramState& state) {
  add_small_extent_variants(state.program, state.graph);
  return !state.program.variants.empty();
}

}  // namespace accel
