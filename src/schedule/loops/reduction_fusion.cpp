#include "schedule/loops/reduction_fusion.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "schedule/analysis/items.h"
#include "schedule/loops/memory_use.h"
#include "schedule/program/edit.h"
#include "schedule/program/scalar_code.h"

namespace accel {

namespace {

constexpr size_t most_statements = 64;  // of an element: more would exceed the registers of a thread

struct Loop {
  int variable;
  Dim extent;
};
using Substitution = std::vector<std::pair<int, Dim>>;  // variables of the loop, by those of the reduction

bool is_reduction(const Stmt& stmt) {
  return stmt.kind == StmtKind::pairwise || stmt.kind == StmtKind::argreduce ||
         (stmt.kind == StmtKind::fold && stmt.op != Op::squared_deviations);
}

void replace_temp(Body& body, TempId from, TempId to) {
  for (Stmt& stmt : body) {
    std::replace(stmt.args.begin(), stmt.args.end(), from, to);
    replace_temp(stmt.body, from, to);
  }
}

class Fusion {
 public:
  explicit Fusion(Program& program) : program_(program), dims_(program.dims) {}

  // Moves `loop` into the first reduction of `nest` that reads what it stores. Whether it did.
  bool fuse(const Nest& loop, Nest& nest) {
    if (!is_candidate(loop) || !are_apart(loop, nest)) return false;
    Body* body = &nest.body;
    for (size_t depth = items_of(nest).loops.size(); depth > 0; --depth) body = &body->back().body;
    const auto reduction = std::find_if(body->begin(), body->end(), is_reduction);
    if (reduction == body->end() || reduction->body.size() + elements_->size() > most_statements) return false;
    return move_into(loop, nest, *body, *reduction);
  }

 private:
  // Loops over independent elements, of which one store is to memory that the reduction reads.
  bool is_candidate(const Nest& loop) {
    const Items items = items_of(loop);
    if (items.loops.empty() || !is_indexed_scalar_code(*items.body)) return false;
    elements_ = items.body;
    loops_.clear();
    for (const Stmt* each : items.loops) loops_.push_back({*dims_.as_symbol(each->var), each->extent});
    return items.loops.size() == 1 || items.before.size() == loop.body.size() - 1;
  }

  // Whether the loop may run in the reduction, an element of it more than once: neither reads what the loop overwrites, but for
  // what it has computed, and the loop does not read what the nest stores.
  bool are_apart(const Nest& loop, const Nest& nest) {
    const MemoryUse own = memory_use_of(program_, loop.body), later = memory_use_of(program_, nest.body);
    if (meet(own.stored, own.loaded) || meet(own.stored, later.stored) || meet(own.loaded, later.stored)) return false;
    std::set<BufferId> passed;
    std::set_intersection(own.stored.begin(), own.stored.end(), later.loaded.begin(), later.loaded.end(),
                          std::inserter(passed, passed.begin()));
    passed_ = passed.size() == 1 ? *passed.begin() : -1;
    return passed_ >= 0;
  }

  bool reads_passed(const Stmt& stmt) const { return reads(program_, stmt, passed_); }

  bool move_into(const Nest& loop, Nest& nest, Body& body, Stmt& reduction) {
    const auto store = std::find_if(elements_->begin(), elements_->end(), [&](const Stmt& s) {
      return s.kind == StmtKind::store && program_.memory_of(s.address.buffer) == passed_;
    });
    if (store == elements_->end()) return false;
    const auto load = std::find_if(reduction.body.begin(), reduction.body.end(), [&](const Stmt& s) {
      return s.kind == StmtKind::load && reads_passed(s) && s.dtype == store->dtype;
    });
    if (load == reduction.body.end() || count_stores() != 1) return false;
    // The value with which the reduction begins may be the first element.
    const auto first = std::find_if(body.begin(), body.end(), [&](const Stmt& s) { return reads_passed(s); });
    const bool has_first = first != body.end();
    if (count_reads(program_, nest.body, passed_) != 1 + has_first || (has_first && first->kind != StmtKind::load))
      return false;
    const auto replaced = find_substitution(nest, reduction, store->address.offset, load->address.offset);
    if (!replaced) return false;
    const int run = *dims_.as_symbol(reduction.var);
    if (has_first && first->address.offset != dims_.substitute(load->address.offset, run, 0)) return false;

    Body element = *elements_;
    for (const auto& [variable, by] : *replaced) substitute(dims_, element, variable, by);
    const TempId value = store->args[0], loaded = load->dst;
    reduction.body.erase(load);
    replace_temp(reduction.body, loaded, value);
    std::replace(reduction.args.begin(), reduction.args.end(), loaded, value);
    if (has_first) write_first(body, first, element, value, run);
    reduction_of(body).body.insert(reduction_of(body).body.begin(), element.begin(), element.end());
    body.insert(body.begin(), loop.body.begin(), loop.body.end() - 1);
    nest.work = dims_.add(loop.work, nest.work);
    return true;
  }

  static Stmt& reduction_of(Body& body) { return *std::find_if(body.begin(), body.end(), is_reduction); }

  int count_stores() const {
    return static_cast<int>(std::count_if(elements_->begin(), elements_->end(), [&](const Stmt& s) {
      return s.kind == StmtKind::store && program_.memory_of(s.address.buffer) == passed_;
    }));
  }

  // Computes the element at the start of the run in place of its load.
  void write_first(Body& body, Body::iterator load, const Body& element, TempId value, int run) {
    Body copy;
    std::copy_if(element.begin(), element.end(), std::back_inserter(copy), [](const Stmt& s) { return !is_store(s.kind); });
    substitute(dims_, copy, run, dims_.constant(0));
    std::map<TempId, TempId> names;
    rename_temps(program_, copy, names);
    const TempId loaded = load->dst;
    const auto name = names.find(value);
    const auto at = body.erase(load);
    body.insert(at, copy.begin(), copy.end());
    replace_temp(body, loaded, name == names.end() ? value : name->second);
  }

  // The variables of the loop by those of the nest, where these go through the same elements: loops of the same extents, or one
  // loop over all elements of the nest's loops in one of their orders.
  std::optional<Substitution> find_substitution(const Nest& nest, const Stmt& reduction, Dim stored, Dim loaded) {
    std::vector<Loop> later;
    for (const Stmt* each : items_of(nest).loops) later.push_back({*dims_.as_symbol(each->var), each->extent});
    later.push_back({*dims_.as_symbol(reduction.var), reduction.extent});
    auto leads_to_load = [&](const Substitution& replaced) {
      Dim offset = stored;
      for (const auto& [variable, by] : replaced) offset = dims_.substitute(offset, variable, by);
      return offset == loaded;
    };
    for (bool is_swapped : {false, true}) {
      if (is_swapped && later.size() != 2) break;
      if (is_swapped) std::swap(later[0], later[1]);
      Substitution replaced;
      if (loops_.size() == later.size()) {
        for (size_t k = 0; k < later.size() && loops_[k].extent == later[k].extent; ++k)
          replaced.emplace_back(loops_[k].variable, dims_.symbol(later[k].variable));
      } else if (loops_.size() == 1) {
        Dim position = dims_.constant(0), count = dims_.constant(1);
        for (const Loop& each : later) {
          position = dims_.add(dims_.mul(position, each.extent), dims_.symbol(each.variable));
          count = dims_.mul(count, each.extent);
        }
        if (count == loops_[0].extent) replaced.emplace_back(loops_[0].variable, position);
      }
      if (replaced.size() == loops_.size() && leads_to_load(replaced)) return replaced;
    }
    return std::nullopt;
  }

  Program& program_;
  DimTable& dims_;
  const Body* elements_ = nullptr;
  std::vector<Loop> loops_;
  BufferId passed_ = -1;  // the memory that the loop stores and the reduction reads
};

bool fuse_nests(Program& program) {
  for (size_t k = 1; k < program.nests.size(); ++k) {
    if (!Fusion(program).fuse(program.nests[k - 1], program.nests[k])) continue;
    erase_nest(program, static_cast<int>(k) - 1);
    return true;
  }
  return false;
}

// The nests of a block's neighbouring steps; no other step runs them.
bool fuse_steps(Program& program, ProgramBlock& block) {
  for (size_t k = 1; k < block.steps.size(); ++k) {
    const BlockStep &first = block.steps[k - 1], &second = block.steps[k];
    if (first.kind != StepKind::nest || second.kind != StepKind::nest) continue;
    const int nest = first.nest;
    if (!Fusion(program).fuse(program.nests[static_cast<size_t>(nest)], program.nests[static_cast<size_t>(second.nest)]))
      continue;
    block.steps.erase(block.steps.begin() + static_cast<std::ptrdiff_t>(k) - 1);
    erase_nest(program, nest);
    return true;
  }
  return false;
}

}  // namespace

Result<bool> fuse_into_reductions(ProgramState& state) {
  Program& program = state.program;
  bool changed = false;
  while (program.blocks.empty() && fuse_nests(program)) changed = true;
  for (ProgramBlock& block : program.blocks)
    while (fuse_steps(program, block)) changed = true;
  return changed;
}

}  // namespace accel
