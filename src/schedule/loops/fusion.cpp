#include "schedule/loops/fusion.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "schedule/program/edit.h"
#include "schedule/program/scalar_code.h"

namespace accel {

namespace {

// More statements or stores would exceed the registers and write buffers of a CPU.
constexpr size_t most_statements = 128, most_stores = 8;

// Memory that a body reads and writes.
struct Traffic {
  std::set<BufferId> loaded, stored;
  size_t stores = 0;
};

class Joining {
 public:
  explicit Joining(Program& program) : program_(program) {}

  // Joins loops in a body and the bodies within it; returns whether it changed anything.
  bool join(Body& body) {
    bool changed = false;
    for (Stmt& stmt : body) changed = join(stmt.body) || changed;
    for (size_t k = 1; k < body.size();) {
      if (!is_vector_loop(body[k - 1]) || !is_vector_loop(body[k]) || !fits(body[k - 1], body[k])) {
        ++k;
        continue;
      }
      append(body[k - 1], body[k]);
      body.erase(body.begin() + static_cast<std::ptrdiff_t>(k));
      changed = true;
    }
    return changed;
  }

 private:
  static bool is_vector_loop(const Stmt& stmt) {
    return stmt.kind == StmtKind::loop && stmt.loop_kind == LoopKind::simd && is_indexed_scalar_code(stmt.body);
  }

  Traffic traffic_of(const Body& body) const {
    Traffic out;
    for (const Stmt& stmt : body) {
      if (stmt.kind == StmtKind::load) out.loaded.insert(program_.memory_of(stmt.address.buffer));
      if (stmt.kind != StmtKind::store) continue;
      out.stored.insert(program_.memory_of(stmt.address.buffer));
      ++out.stores;
    }
    return out;
  }

  static bool share(const std::set<BufferId>& a, const std::set<BufferId>& b) {
    return std::any_of(a.begin(), a.end(), [&](BufferId id) { return b.contains(id); });
  }

  bool fits(const Stmt& first, const Stmt& second) const {
    if (first.extent != second.extent || first.body.size() + second.body.size() > most_statements) return false;
    for (const Stmt& stmt : second.body)
      if (stmt.dst >= 0 && std::any_of(first.body.begin(), first.body.end(), [&](const Stmt& s) { return s.dst == stmt.dst; }))
        return false;
    Traffic a = traffic_of(first.body), b = traffic_of(second.body);
    bool apart = !share(a.stored, b.stored) && !share(a.stored, b.loaded) && !share(a.loaded, b.stored);
    return apart && share(a.loaded, b.loaded) && a.stores + b.stores <= most_stores;
  }

  void append(Stmt& first, Stmt& second) {
    substitute(program_.dims, second.body, *program_.dims.as_symbol(second.var), first.var);
    std::move(second.body.begin(), second.body.end(), std::back_inserter(first.body));
  }

  Program& program_;
};

}  // namespace

Result<bool> join_loops(ProgramState& state) {
  Joining joining(state.program);
  bool changed = false;
  for (Nest& nest : state.program.nests) changed = joining.join(nest.body) || changed;
  return changed;
}

}  // namespace accel
