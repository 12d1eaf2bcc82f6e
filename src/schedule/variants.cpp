#include "schedule/variants.h"

#include <algorithm>
#include <set>

namespace accel {

namespace {

constexpr int64_t smallest = 2, largest = 16, most_iterations = 64;
constexpr size_t most_nests = 8;  // of a program with blocks, all of which a variant copies

void collect_inner_extents(const DimTable& dims, const Body& body, bool inner, std::set<int>& symbols) {
  for (const Stmt& stmt : body) {
    bool loops = stmt.extent.id >= 0 && stmt.kind != StmtKind::call;
    if (loops && inner)
      for (int symbol : dims.symbols(stmt.extent))
        if (symbol < DimTable::first_variable) symbols.insert(symbol);
    collect_inner_extents(dims, stmt.body, inner || loops, symbols);
  }
}

// Symbols of outermost loops: fixing them would tie the copy to one size of the problem.
void collect_outer_extents(const DimTable& dims, const Body& body, std::set<int>& symbols) {
  for (const Stmt& stmt : body)
    if (stmt.extent.id >= 0)
      for (int symbol : dims.symbols(stmt.extent)) symbols.insert(symbol);
}

}  // namespace

void add_small_extent_variant(Program& program, const Graph& graph) {
  if (!program.blocks.empty() && program.nests.size() > most_nests) return;
  std::set<int> inner, outer;
  for (const Nest& nest : program.nests) {
    collect_inner_extents(program.dims, nest.body, false, inner);
    collect_outer_extents(program.dims, nest.body, outer);
  }
  Variant variant;
  int64_t iterations = 1;
  for (int symbol : inner) {
    int64_t hint = graph.hints[symbol];
    bool bound = std::find(program.bound_symbols.begin(), program.bound_symbols.end(), symbol) != program.bound_symbols.end();
    if (bound || outer.count(symbol) || hint < smallest || hint > largest || iterations * hint > most_iterations) continue;
    iterations *= hint;
    variant.fixed.emplace_back(symbol, hint);
  }
  if (!variant.fixed.empty()) program.variants.push_back(std::move(variant));
}

}  // namespace accel
