#pragma once
// Loops tile by tile (schedule/graph/state_tiling.h) whose lanes can be vectors of their own: a lane has ended for good as soon
// as its mask does not hold.

#include <optional>
#include <set>
#include <vector>

#include "schedule/program/program.h"

namespace accel {

// A repeat statement over a loop over lanes. A lane for which no mask holds does not change its state, and so has ended.
struct VectorLoop {
  // A number of each lane that an iteration loads; `store`: the statement that stores it anew, or null.
  struct Number {
    const Stmt* load;
    const Stmt* store;
  };
  // A state that becomes `value`, equal in all lanes, where the mask holds. The last such iteration determines it.
  struct Assigned {
    const Stmt *load, *store;
    TempId mask, value;
  };

  const Stmt* lanes = nullptr;       // the loop
  std::vector<const Stmt*> uniform;  // statements before it
  DType real = DType::float32;       // of all numbers, or of their parts
  std::vector<Number> numbers;
  std::vector<Assigned> assigned;
  std::vector<const Stmt*> computed;  // in the loop, for each lane
  std::set<TempId> scalars;           // temps that are equal in all lanes
  std::set<TempId> counted;           // temps among these, and of `uniform`, that change with the iteration
  std::vector<TempId> masks;          // active lanes are those in which one of these holds
  // Comparisons of a modulus that squares decide: their masks then hold only in lanes that surely stay active.
  std::set<TempId> from_squares;
  // Squares of complex numbers whose modulus such a comparison bounds. Their parts have products that do not overflow; that
  // they underflow is not noticed.
  std::set<TempId> bounded;
};

// Nullopt when the loop is not of this kind, or has operations that the prelude's part "vectors" lacks.
std::optional<VectorLoop> vector_loop(const Program& program, const Stmt& repeat);

// The function of the prelude's part "vectors" that computes an operation for numbers or masks; empty: none.
std::string vector_function(const Program& program, const Stmt& stmt);

// Of a comparison of a modulus with a number: the modulus, the number, and whether the comparison holds for small moduli.
struct ComparedModulus {
  TempId modulus, number;
  bool below;
};
std::optional<ComparedModulus> compared_modulus(const Stmt& stmt, const std::set<TempId>& moduli);

}  // namespace accel
