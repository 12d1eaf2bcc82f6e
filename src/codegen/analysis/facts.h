#pragma once
// Facts about a Program's statements that the emitter needs before it writes them.

#include <cstdint>
#include <set>
#include <vector>

#include "codegen/analysis/deferred_checks.h"
#include "codegen/analysis/statements.h"

namespace accel {

// Bytes of scratch that a function has on its stack; the rest is on the heap.
constexpr int64_t most_stack_scratch = 64 * 1024;

class Facts {
 public:
  // `quiet_comparisons`: see emit_cpp.
  explicit Facts(const Program& program, bool quiet_comparisons = false);

  // The statement that computes a temp; null when nothing does. A declared accumulator is not a value of its own.
  const Stmt* definition(TempId temp) const { return definitions_[static_cast<size_t>(temp)]; }
  // Whether a temp has one value in all functions of a nest, so that it is written again rather than passed: constants and
  // scalars.
  bool is_launch_constant(TempId temp) const;
  // Whether the computation of a temp must stay for its floating-point events (preserved_events.h).
  bool must_preserve(TempId temp) const { return preserved_.contains(temp); }
  // Whether the value is a constant, or computed from nothing else.
  bool is_of_constants(TempId temp) const;
  // The nest's number among those that do nothing but multiply two vectors of arguments; -1: it is none of them.
  int panel_of(const Nest& nest) const { return panels_[static_cast<size_t>(&nest - program_.nests.data())]; }
  int panel_count() const { return panel_count_; }
  const DeferredChecks& deferred_checks() const { return deferred_checks_; }
  // Whether the cell has a check that need not be awaited. Nests store to it only if the check fails; before, it is true.
  bool is_deferred_check(BufferId cell) const { return deferred_checks_.cells.contains(cell); }
  // Events of all statements of a body.
  int events(const Body& body) const;

 private:
  void find_definitions(const Body& body);
  void find_panels();

  const Program& program_;
  std::vector<const Stmt*> definitions_;  // by temp
  std::set<TempId> preserved_;
  DeferredChecks deferred_checks_;
  std::vector<int> panels_;  // by nest
  int panel_count_ = 0;
};

// Temps that steps before a nest compute and its function gets, in this order.
std::vector<TempId> nest_parameters(const Facts& facts, const Nest& nest);

}  // namespace accel
