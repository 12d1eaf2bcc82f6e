// Rows of all nests of a sequence are numbered alike: row x of a nest is the iteration that stores row x of its memory. A block
// is the rows [first, first + block_rows). Within a block each nest in turn computes the rows that need no rows of other
// blocks; when all blocks are done, each nest in turn computes the rows around the edges between blocks.

#include "schedule/loops/row_blocking.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "schedule/analysis/row_accesses.h"
#include "schedule/program/edit.h"

namespace accel {

namespace {

constexpr int64_t block_bytes = 1 << 18;                // fits the second-level cache of any CPU
constexpr int64_t least_block = 8, most_block = 64;     // rows
constexpr int64_t least_row_bytes = 512;                // shorter rows are better walked as one loop
constexpr int64_t least_blocks = 4, usual_blocks = 64;  // enough to occupy all threads
constexpr int64_t most_left = 2;                        // rows that a block leaves at each edge

// Rows at the two edges of a block that a nest leaves to the second nest.
struct Left {
  int64_t before = 0, after = 0;
};

class RowBlocks {
 public:
  RowBlocks(Program& program, const std::map<BufferId, Dim>& known, std::span<const int64_t> hints)
      : program_(program), dims_(program.dims), known_(known), hints_(hints) {}

  // Adds a nest to the sequence; false when it cannot run by blocks.
  bool add(const Nest& nest) {
    std::optional<RowNest> rows = row_nest(program_, nest, known_);
    bool fits = rows && is_apart(*rows) && std::all_of(rows->accesses.begin(), rows->accesses.end(), [&](const RowAccess& a) {
                  return !strides_.contains(a.memory) || strides_.at(a.memory) == a.stride;
                });
    if (!fits) return false;
    std::optional<Left> left = left_by(*rows);
    if (!left) return false;
    for (const RowAccess& access : rows->accesses) strides_.emplace(access.memory, access.stride);
    nests_.push_back(std::move(*rows));
    left_.push_back(*left);
    return true;
  }

  // Whether nests share memory, and its rows are long and numerous enough.
  bool is_worth_it() {
    if (nests_.size() < 2) return false;
    int64_t bytes = 0, one_by_one = 0;  // of a row
    for (const auto& [memory, stride] : strides_) {
      int64_t own = dims_.known(stride, hints_).value_or(0);
      if (own < least_row_bytes) return false;
      bytes += own;
      one_by_one += own * std::count_if(nests_.begin(), nests_.end(), [&](const RowNest& n) { return touches(n, memory); });
    }
    int64_t rows = dims_.known(end(), hints_).value_or(0) - first_row();
    rows_ = std::clamp(std::min(block_bytes / bytes, rows / usual_blocks), least_block, most_block);
    return one_by_one > bytes && rows >= least_blocks * rows_;
  }

  // The nest over the blocks, followed by the nest over the edges between blocks if rows are left.
  std::vector<Nest> write() {
    std::vector<Nest> out;
    Dim rows = dims_.sub(end(), dims_.constant(first_row()));
    Dim blocks = dims_.floordiv(dims_.add(rows, dims_.constant(rows_ - 1)), dims_.constant(rows_));
    out.push_back(nest_of(blocks, [&](size_t k, Dim first) {
      Dim begin = dims_.add(first, dims_.constant(left_[k].before));
      return std::pair(begin, dims_.add(first, dims_.constant(rows_ - left_[k].after)));
    }));
    if (std::all_of(left_.begin(), left_.end(), [](const Left& l) { return l.before + l.after == 0; })) return out;
    out.push_back(nest_of(dims_.add(blocks, dims_.constant(1)), [&](size_t k, Dim first) {
      Dim begin = dims_.sub(first, dims_.constant(left_[k].after));
      return std::pair(begin, dims_.add(first, dims_.constant(left_[k].before)));
    }));
    return out;
  }

 private:
  static bool touches(const RowNest& nest, BufferId memory) {
    return std::any_of(nest.accesses.begin(), nest.accesses.end(), [&](const RowAccess& a) { return a.memory == memory; });
  }

  // Whether no nest stores to memory that another one, or itself, reads otherwise than row by row.
  bool is_apart(const RowNest& nest) const {
    auto clash = [](const RowNest& a, const RowNest& b) {
      return std::any_of(b.accesses.begin(), b.accesses.end(),
                         [&](const RowAccess& access) { return access.stores && a.loaded_whole.contains(access.memory); });
    };
    return !clash(nest, nest) && std::none_of(nests_.begin(), nests_.end(),
                                              [&](const RowNest& other) { return clash(nest, other) || clash(other, nest); });
  }

  // The rows that `nest` leaves at block edges: where it and an earlier nest access the same memory and one of them stores, row
  // x needs the earlier nest's row x + distance to be done.
  std::optional<Left> left_by(const RowNest& nest) const {
    Left out;
    for (size_t k = 0; k < nests_.size(); ++k) {
      for (const RowAccess& mine : nest.accesses) {
        for (const RowAccess& other : nests_[k].accesses) {
          if (mine.memory != other.memory || (!mine.stores && !other.stores)) continue;
          int64_t distance = mine.row - other.row;
          out.before = std::max(out.before, left_[k].before - distance);
          out.after = std::max(out.after, left_[k].after + distance);
        }
      }
    }
    if (out.before > most_left || out.after > most_left) return std::nullopt;
    return out;
  }

  int64_t first_row() const {
    return std::min_element(nests_.begin(), nests_.end(), [](auto& a, auto& b) { return a.first < b.first; })->first;
  }
  Dim end_of(const RowNest& nest) { return dims_.add(dims_.constant(nest.first), nest.count); }
  Dim end() {
    Dim out = end_of(nests_[0]);
    for (const RowNest& nest : nests_) out = dims_.max(out, end_of(nest));
    return out;
  }

  // A nest that is parallel over blocks or over block edges; `range(k, first)`: the rows of nest k in the block, or at the
  // edge, that starts at row `first`.
  template <class Range>
  Nest nest_of(Dim count, Range range) {
    Nest out;
    out.name = "rows";
    out.work = dims_.constant(0);
    Dim block = dims_.new_variable();
    Dim first = dims_.add(dims_.mul(block, rows_), dims_.constant(first_row()));
    Stmt blocks = loop_over(block, count, LoopKind::parallel);
    for (size_t k = 0; k < nests_.size(); ++k) {
      auto [begin, end] = range(k, first);
      if (begin != end) blocks.body.push_back(rows_of(nests_[k], begin, end, out));
    }
    out.body.push_back(std::move(blocks));
    return out;
  }

  // The loop over the rows of a nest within [begin, end). Scalars that all rows use are added to the front of `out`.
  Stmt rows_of(const RowNest& nest, Dim begin, Dim end, Nest& out) {
    std::map<TempId, TempId> names;
    Body before = nest.before, body = nest.row;
    rename_temps(program_, before, names);
    rename_temps(program_, body, names);
    std::move(before.begin(), before.end(), std::back_inserter(out.body));
    Dim row = dims_.new_variable(), from = dims_.max(begin, dims_.constant(nest.first));
    Dim iteration = dims_.add(dims_.sub(from, dims_.constant(nest.first)), row);
    substitute(dims_, body, *dims_.as_symbol(nest.variable), iteration);
    int64_t share = dims_.as_constant(dims_.sub(end, begin)).value_or(rows_);
    out.work = dims_.add(out.work, dims_.floordiv(dims_.mul(nest.work, share), dims_.constant(rows_)));
    Dim extent = dims_.max(dims_.constant(0), dims_.sub(dims_.min(end, end_of(nest)), from));
    return loop_over(row, extent, LoopKind::serial, std::move(body));
  }

  Program& program_;
  DimTable& dims_;
  const std::map<BufferId, Dim>& known_;
  std::span<const int64_t> hints_;
  std::map<BufferId, Dim> strides_;  // of rows, by memory
  std::vector<RowNest> nests_;
  std::vector<Left> left_;
  int64_t rows_ = 0;  // of a block
};

// Finds sequences of consecutive nests and rewrites those that run better by blocks.
class Sequences {
 public:
  Sequences(Program& program, std::span<const int64_t> hints, std::vector<std::string>& notes)
      : program_(program), hints_(hints), notes_(notes), strides_(row_strides(program)) {}

  void run() {
    if (program_.blocks.empty()) {
      std::vector<int> all(program_.nests.size());
      std::iota(all.begin(), all.end(), 0);
      replace(all);
    }
    for (ProgramBlock& block : program_.blocks) run(block.steps);
    remove_nests();
  }

 private:
  static bool is_protect(const BlockStep& step) { return step.kind == StepKind::protect; }

  // Rewrites the nests of a block. Backups between them move to the front, as memory may be backed up earlier.
  void run(std::vector<BlockStep>& steps) {
    for (size_t begin = 0; begin < steps.size();) {
      std::vector<int> nests;
      size_t end = begin;
      for (; end < steps.size() && (steps[end].kind == StepKind::nest || is_protect(steps[end])); ++end)
        if (steps[end].kind == StepKind::nest) nests.push_back(steps[end].nest);
      if (replace(nests)) std::stable_partition(steps.begin() + begin, steps.begin() + end, is_protect);
      begin = std::max(end, begin + 1);
    }
  }

  // Replaces sequences within `nests`; returns whether it replaced any.
  bool replace(const std::vector<int>& nests) {
    bool changed = false;
    for (size_t begin = 0; begin < nests.size();) {
      RowBlocks blocks(program_, strides_, hints_);
      size_t end = begin;
      while (end < nests.size() && blocks.add(program_.nests[static_cast<size_t>(nests[end])])) ++end;
      if (blocks.is_worth_it()) {
        changed = true;
        put(std::vector(nests.begin() + begin, nests.begin() + end), blocks.write());
      }
      begin = std::max(end, begin + 1);
    }
    return changed;
  }

  void put(const std::vector<int>& nests, std::vector<Nest> instead) {
    notes_.push_back(std::to_string(nests.size()) + " nests run block of rows by block of rows");
    for (size_t k = 0; k < nests.size(); ++k) {
      if (k < instead.size())
        program_.nests[static_cast<size_t>(nests[k])] = std::move(instead[k]);
      else
        done_.insert(nests[k]);
    }
  }

  // Removes nests that were merged into others, and renumbers the steps.
  void remove_nests() {
    for (ProgramBlock& block : program_.blocks) {
      std::erase_if(block.steps,
                    [&](const BlockStep& step) { return step.kind == StepKind::nest && done_.contains(step.nest); });
      for (BlockStep& step : block.steps)
        if (step.kind == StepKind::nest)
          step.nest -= static_cast<int>(std::distance(done_.begin(), done_.lower_bound(step.nest)));
    }
    for (auto it = done_.rbegin(); it != done_.rend(); ++it) program_.nests.erase(program_.nests.begin() + *it);
  }

  Program& program_;
  std::span<const int64_t> hints_;
  std::vector<std::string>& notes_;
  std::map<BufferId, Dim> strides_;
  std::set<int> done_;
};

}  // namespace

Result<bool> block_rows(ProgramState& state) {
  const size_t count = state.notes.size();
  Sequences(state.program, state.graph.hints, state.notes).run();
  return state.notes.size() > count;
}

}  // namespace accel
