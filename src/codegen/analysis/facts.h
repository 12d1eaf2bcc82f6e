#pragma once
// Facts about a Program's statements that the emitter needs before it writes them.

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "schedule/program/program.h"

namespace accel {

// Bytes of scratch that a function has on its stack; the rest is on the heap.
constexpr int64_t most_stack_scratch = 64 * 1024;

class Facts {
 public:
  // `quiet_comparisons`: see emit_cpp. Without, what an extreme drops for a NaN raises the event of the comparison anyway.
  explicit Facts(const Program& program, bool quiet_comparisons = false);

  // The statement that computes a temp; null when nothing does. A declared accumulator is not a value of its own.
  const Stmt* definition(TempId temp) const { return definitions_[static_cast<size_t>(temp)]; }
  // Whether a temp is the same in every function of a nest, so that it is written again rather than passed: constants and
  // scalars.
  bool is_launch_constant(TempId temp) const;
  // Whether the computation of a temp has floating-point events that a compiler could skip: the temp reaches only selections,
  // or nothing.
  bool must_keep(TempId temp) const { return kept_.contains(temp); }
  // Whether the value is a constant, or computed from nothing else.
  bool is_of_constants(TempId temp) const;
  // The nest's number among those that do nothing but multiply two vectors of arguments; -1: it is none of them.
  int panel_of(const Nest& nest) const { return panels_[static_cast<size_t>(&nest - program_.nests.data())]; }
  int panel_count() const { return panel_count_; }
  // Events of all statements of a body.
  int events(const Body& body) const;

 private:
  void find_panels();
  void visit(const Body& body);
  void visit(const ProgramBlock& block);
  void use_sources();
  void keep_what_stores_drop();
  void for_each_unrolled_store(const Body& body, const std::function<void(const Stmt&)>& act) const;
  void keep_what_ways_drop();
  void keep_sources(TempId temp);
  void keep_what_selections_drop(const Body& body);
  using Parts = uint8_t;
  static constexpr Parts no_part = 0, real_part = 1, imaginary_part = 2, both_parts = 3;
  Parts parts_used(const Stmt& stmt) const;
  bool drops_part(const Stmt& stmt) const;
  bool is_selection(const Stmt& stmt) const;

  const Program& program_;
  bool quiet_comparisons_;
  std::vector<const Stmt*> definitions_;
  std::vector<std::pair<TempId, TempId>> moves_;  // to a temp, from another one
  std::vector<bool> used_;                        // by what is seen outside
  std::vector<Parts> parts_;                      // of each complex temp that statements use
  std::set<TempId> kept_;
  std::set<const Stmt*> undone_;   // stores that nobody may ever see
  std::set<TempId> with_sources_;  // of which keep_sources has looked at all
  std::vector<int> panels_;        // by nest
  int panel_count_ = 0;
};

// Whether an argreduce is over square roots of float32 or float64, worked out last in its body.
bool is_of_roots(const Program& program, const Stmt& stmt);
// A gufunc call that multiplies two vectors of float64: the operand that may be the row of a matrix, that which may be a
// column, their byte strides, and how many elements they have.
struct Dot {
  size_t row = 0, column = 1;
  Dim row_stride, column_stride, extent;
};
std::optional<Dot> dot_of(const Program& program, const Stmt& stmt);
// A gufunc call that multiplies one matrix and a vector, or a matrix of one column, of float32 or float64.
bool is_matrix_by_vector(const Program& program, const Stmt& stmt);
// Whether the statements of a body store to memory that they load from as well.
bool loads_what_it_stores(const Program& program, const Body& body);
// Temps that a body reads and does not compute itself, ascending.
std::vector<TempId> temps_from_outside(const Body& body);
// Temps that steps before a nest compute and its function gets, in this order.
std::vector<TempId> nest_parameters(const Facts& facts, const Nest& nest);
// Buffers that a body reads or writes, ascending.
std::vector<BufferId> buffers_of(const Body& body);

}  // namespace accel
