#pragma once
// Properties of single statements and blocks, and what bodies read and write.

#include <optional>
#include <span>
#include <vector>

#include "schedule/program/program.h"

namespace accel {

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
// Buffers that a body reads or writes, ascending.
std::vector<BufferId> buffers_of(const Body& body);
// The edges that lead from a block to others.
std::span<const Edge> edges_of(const ProgramBlock& block);

}  // namespace accel
