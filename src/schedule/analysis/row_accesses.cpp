#include "schedule/analysis/row_accesses.h"

#include <algorithm>

#include "schedule/program/edit.h"
#include "schedule/program/scalar_code.h"

namespace accel {

namespace {

constexpr int64_t most_rows_away = 4;

// The loop over rows: the last statement of the nest, which only computes scalars before it. Null when there is none.
const Stmt* outer_loop(const Nest& nest) {
  if (nest.on_calling_thread || nest.body.empty()) return nullptr;
  const Stmt& last = nest.body.back();
  bool numbers = std::all_of(nest.body.begin(), nest.body.end() - 1, [](const Stmt& stmt) { return is_number(stmt.kind); });
  return numbers && last.kind == StmtKind::loop && last.loop_kind == LoopKind::parallel ? &last : nullptr;
}

class Reading {
 public:
  explicit Reading(Program& program) : program_(program), dims_(program.dims) {
    for (const Buffer& buffer : program.buffers)
      for (Dim d : buffer.shape)
        if (auto symbol = dims_.as_symbol(d)) extents_.insert(*symbol);
  }

  // Collects the accesses of a loop's body; false when one is not by rows.
  bool read(const Body& body, Dim row) {
    row_ = *dims_.as_symbol(row);
    return visit(body);
  }
  const std::vector<RowAccess>& accesses() const { return accesses_; }
  // Memory that is loaded at addresses which do not depend on the row.
  const std::set<BufferId>& fixed() const { return fixed_; }

 private:
  struct Inner {
    int variable;
    Dim last;
  };

  bool visit(const Body& body) {
    return std::all_of(body.begin(), body.end(), [&](const Stmt& stmt) {
      if (stmt.kind == StmtKind::loop) return visit_loop(stmt);
      if (stmt.kind == StmtKind::load || stmt.kind == StmtKind::store) return touch(stmt);
      return is_number(stmt.kind);
    });
  }

  bool visit_loop(const Stmt& loop) {
    Dim extent = most(loop.extent);
    if (dims_.has_variables(extent)) return false;
    loops_.push_back({*dims_.as_symbol(loop.var), dims_.sub(extent, dims_.constant(1))});
    bool known = visit(loop.body);
    loops_.pop_back();
    return known;
  }

  bool touch(const Stmt& stmt) {
    BufferId memory = program_.memory_of(stmt.address.buffer);
    if (program_.buffers[static_cast<size_t>(memory)].kind == BufferKind::scratch) return false;
    std::optional<Dim> stride = dims_.slope(stmt.address.offset, row_);
    if (!stride) return false;
    if (dims_.is_constant(*stride, 0)) return stmt.kind == StmtKind::load && (fixed_.insert(memory), true);
    std::optional<int64_t> row = row_of(stmt, *stride);
    if (row) accesses_.push_back({memory, *stride, *row, stmt.kind == StmtKind::store});
    return row.has_value();
  }

  // The row, relative to the iteration's own, that contains the address for all values of the inner loops' variables.
  std::optional<int64_t> row_of(const Stmt& stmt, Dim stride) {
    Dim lowest = dims_.substitute(stmt.address.offset, row_, 0), highest = lowest;
    for (const Inner& loop : loops_) {
      std::optional<Dim> step = dims_.slope(lowest, loop.variable);
      if (!step) return std::nullopt;
      bool rises = is_nonnegative(*step);
      if (!rises && !is_nonnegative(dims_.mul(*step, -1))) return std::nullopt;
      lowest = dims_.substitute(lowest, loop.variable, rises ? dims_.constant(0) : loop.last);
      highest = dims_.substitute(highest, loop.variable, rises ? loop.last : dims_.constant(0));
    }
    Dim end = dims_.add(highest, dims_.constant(item_size(stmt.dtype)));
    for (int64_t row = -most_rows_away; row <= most_rows_away; ++row) {
      Dim begin = dims_.mul(stride, row);
      bool inside = is_nonnegative(dims_.sub(lowest, begin)) && is_nonnegative(dims_.sub(dims_.add(begin, stride), end));
      if (inside) return row;
    }
    return std::nullopt;
  }

  // An upper bound of an extent. A nest that skips some rows multiplies the extent by min(a constant, ...), which is at most
  // that constant.
  Dim most(Dim extent) {
    if (dims_.kind(extent) != DimKind::mul) return extent;
    Dim out = dims_.constant(1);
    for (Dim factor : dims_.operands(extent)) {
      if (dims_.kind(factor) == DimKind::min)
        for (Dim part : dims_.operands(factor))
          if (dims_.as_constant(part)) factor = part;
      if (!is_nonnegative(factor)) return extent;
      out = dims_.mul(out, factor);
    }
    return out;
  }

  bool is_nonnegative(Dim d) const {
    std::vector<Dim> parts = dims_.operands(d);
    auto is = [&](Dim part) { return is_nonnegative(part); };
    switch (dims_.kind(d)) {
      case DimKind::constant:
        return *dims_.as_constant(d) >= 0;
      case DimKind::symbol:
        return extents_.contains(*dims_.as_symbol(d));
      case DimKind::max:
        return std::any_of(parts.begin(), parts.end(), is);
      case DimKind::add:
      case DimKind::mul:
      case DimKind::min:
        return std::all_of(parts.begin(), parts.end(), is);
      default:
        return false;
    }
  }

  Program& program_;
  DimTable& dims_;
  int row_ = -1;
  std::set<int> extents_;  // symbols that are extents of arrays
  std::vector<Inner> loops_;
  std::vector<RowAccess> accesses_;
  std::set<BufferId> fixed_;
};

// d / by when the division has no remainder as polynomials; nullopt otherwise.
std::optional<Dim> quotient(DimTable& dims, Dim d, Dim by) {
  if (dims.kind(by) == DimKind::mul) {
    std::optional<Dim> out = d;
    for (Dim factor : dims.operands(by)) out = out ? quotient(dims, *out, factor) : std::nullopt;
    return out;
  }
  if (dims.as_constant(by)) {
    Dim out = dims.floordiv(d, by);
    return dims.mul(out, by) == d ? std::optional(out) : std::nullopt;
  }
  Dim out = dims.constant(0);
  for (Dim term : dims.kind(d) == DimKind::add ? dims.operands(d) : std::vector{d}) {
    std::vector<Dim> factors = dims.kind(term) == DimKind::mul ? dims.operands(term) : std::vector{term};
    auto found = std::find(factors.begin(), factors.end(), by);
    if (found == factors.end()) return std::nullopt;
    factors.erase(found);
    out = dims.add(out, dims.product(factors));
  }
  return out;
}

// The number of elements in a row of a loop over single elements, when all memory with a known row stride agrees on it.
std::optional<Dim> row_length(Program& program, const Stmt& loop, const std::map<BufferId, Dim>& strides) {
  std::optional<Dim> out;
  for (const Stmt& stmt : loop.body) {
    if (stmt.kind != StmtKind::load && stmt.kind != StmtKind::store) continue;
    auto known = strides.find(program.memory_of(stmt.address.buffer));
    std::optional<Dim> step = program.dims.slope(stmt.address.offset, *program.dims.as_symbol(loop.var));
    if (known == strides.end() || !step || program.dims.as_constant(*step).value_or(0) <= 0) continue;
    std::optional<Dim> length = quotient(program.dims, known->second, *step);
    if (!length || (out && *out != *length)) return std::nullopt;
    out = length;
  }
  return out;
}

// Turns the loop over elements of `nest` into one over rows of `length` elements; false when `length` does not divide the
// count.
bool cut(Program& program, RowNest& nest, Dim length) {
  DimTable& dims = program.dims;
  std::optional<Dim> count = quotient(dims, nest.count, length);
  if (!count) return false;
  Dim element = dims.new_variable();
  substitute(dims, nest.row, *dims.as_symbol(nest.variable), dims.add(dims.mul(nest.variable, length), element));
  nest.count = *count;
  Stmt loop = loop_over(element, length, LoopKind::simd, std::move(nest.row));
  nest.row.clear();
  nest.row.push_back(std::move(loop));
  return true;
}

}  // namespace

std::map<BufferId, Dim> row_strides(Program& program) {
  std::map<BufferId, Dim> out;
  std::set<BufferId> several;
  for (const Nest& nest : program.nests) {
    const Stmt* loop = outer_loop(nest);
    Reading reading(program);
    if (!loop || is_indexed_scalar_code(loop->body) || !reading.read(loop->body, loop->var)) continue;
    for (const RowAccess& access : reading.accesses()) {
      auto [known, is_new] = out.emplace(access.memory, access.stride);
      if (!is_new && known->second != access.stride) several.insert(access.memory);
    }
  }
  for (BufferId id : several) out.erase(id);
  return out;
}

std::optional<RowNest> row_nest(Program& program, const Nest& nest, const std::map<BufferId, Dim>& strides) {
  const Stmt* loop = outer_loop(nest);
  if (!loop) return std::nullopt;
  RowNest out;
  out.before.assign(nest.body.begin(), nest.body.end() - 1);
  out.variable = loop->var;
  out.count = loop->extent;
  out.row = loop->body;
  out.work = nest.work;
  if (is_indexed_scalar_code(loop->body)) {
    std::optional<Dim> length = row_length(program, *loop, strides);
    if (!length || !cut(program, out, *length)) return std::nullopt;
  }
  Reading reading(program);
  if (!reading.read(out.row, out.variable)) return std::nullopt;
  out.accesses = reading.accesses();
  out.loaded_whole = reading.fixed();
  for (const Stmt& stmt : out.before)
    if (stmt.kind == StmtKind::load) out.loaded_whole.insert(program.memory_of(stmt.address.buffer));
  auto store = std::find_if(out.accesses.begin(), out.accesses.end(), [](const RowAccess& a) { return a.stores; });
  if (store == out.accesses.end()) return std::nullopt;
  out.first = store->row;
  std::map<BufferId, Dim> known = strides;
  for (RowAccess& access : out.accesses) {
    if (known.emplace(access.memory, access.stride).first->second != access.stride) return std::nullopt;
    access.row -= out.first;
  }
  return out;
}

}  // namespace accel
