#include "codegen/analysis/loops/masked_loop.h"

#include <algorithm>
#include <map>
#include <set>

#include "codegen/analysis/facts.h"
#include "codegen/analysis/loops/vector_loop.h"

namespace accel {

namespace {

bool is_choice(const Stmt& stmt) { return stmt.kind == StmtKind::compute && (stmt.op == Op::where || stmt.op == Op::merge); }
bool is_restriction(const Stmt& stmt) { return stmt.kind == StmtKind::compute && stmt.op == Op::lanes; }
bool is_cheap(const Stmt& stmt) {
  return stmt.kind == StmtKind::load || stmt.kind == StmtKind::constant || stmt.kind == StmtKind::input ||
         stmt.kind == StmtKind::index;
}

class Splitter {
 public:
  Splitter(const Program& program, const Stmt& loop) : program_(program), body_(loop.body) {}

  std::optional<MaskedLoop> run() {
    if (!is_flat()) return std::nullopt;
    find_stores();
    find_restricted();
    if (masks_.empty() || !split() || !is_worth_it() || !preserves_order()) return std::nullopt;
    for (const Stmt& stmt : body_) {
      if (first_.contains(&stmt)) out_.first.push_back(&stmt);
      if (second_.contains(&stmt)) out_.second.push_back(&stmt);
    }
    if (may_repeat_first()) find_comparisons();
    out_.masks.assign(masks_.begin(), masks_.end());
    out_.handed.assign(handed_.begin(), handed_.end());
    return out_;
  }

 private:
  DType dtype(TempId temp) const { return program_.temps[static_cast<size_t>(temp)]; }
  const Stmt* definition(TempId temp) const {
    auto found = defined_.find(temp);
    return found == defined_.end() ? nullptr : found->second;
  }

  bool is_flat() {
    for (const Stmt& stmt : body_) {
      if (!is_number(stmt.kind) && stmt.kind != StmtKind::store) return false;
      if (stmt.dst >= 0) defined_[stmt.dst] = &stmt;
    }
    return true;
  }

  // Stores that change nothing where none of certain masks holds.
  void find_stores() {
    for (const Stmt& stmt : body_) {
      if (stmt.kind != StmtKind::store) continue;
      std::set<TempId> masks;
      if (!preserves_others(stmt, stmt.args[0], masks)) continue;
      selected_.push_back(&stmt);
      masks_.insert(masks.begin(), masks.end());
    }
  }

  // Whether a store preserves the old value of elements where none of `masks` holds.
  bool preserves_others(const Stmt& store, TempId value, std::set<TempId>& masks) const {
    const Stmt* stmt = definition(value);
    if (stmt == nullptr) return false;
    if (stmt->kind == StmtKind::load)
      return is_at(*stmt, store.address) && dtype(value) == dtype(store.args[0]) && !masks.empty();
    if (!is_choice(*stmt) || definition(stmt->args[0]) == nullptr) return false;
    masks.insert(stmt->args[0]);
    return preserves_others(store, stmt->args[2], masks);
  }
  static bool is_at(const Stmt& stmt, const Address& address) {
    return stmt.address.buffer == address.buffer && stmt.address.offset == address.offset;
  }

  // What is computed of elements where certain masks hold: it has events only there.
  void find_restricted() {
    std::map<TempId, std::set<TempId>> restricted;
    for (const Stmt& stmt : body_) {
      if (stmt.kind != StmtKind::compute || is_choice(stmt)) continue;
      std::set<TempId> masks;
      for (TempId arg : stmt.args)
        if (auto found = restricted.find(arg); found != restricted.end())
          masks.insert(found->second.begin(), found->second.end());
      if (is_restriction(stmt) && definition(stmt.args[1]) != nullptr) masks.insert(stmt.args[1]);
      if (masks.empty()) continue;
      if (program_.own_events(stmt) != 0) masks_.insert(masks.begin(), masks.end());
      restricted_.insert(stmt.dst);
      restricted.emplace(stmt.dst, std::move(masks));
    }
  }
  bool is_selected(const Stmt& stmt) const { return std::find(selected_.begin(), selected_.end(), &stmt) != selected_.end(); }

  bool split() {
    for (TempId mask : masks_) need_first(mask);
    for (const Stmt& stmt : body_) {
      bool events = program_.own_events(stmt) != 0;
      if (is_selected(stmt) || (events && restricted_.contains(stmt.dst)))
        need_second(stmt);
      else if (stmt.kind == StmtKind::store || events)
        need_first(stmt);
    }
    return fits_ && !second_.empty();
  }

  void need_first(TempId temp) {
    if (const Stmt* stmt = definition(temp)) need_first(*stmt);
  }
  void need_first(const Stmt& stmt) {
    if (!first_.insert(&stmt).second) return;
    if (second_.contains(&stmt) && !is_cheap(stmt)) fits_ = false;
    for (TempId arg : stmt.args) need_first(arg);
  }
  void need_second(const Stmt& stmt) {
    if (!second_.insert(&stmt).second) return;
    if (first_.contains(&stmt) && !is_cheap(stmt)) fits_ = false;
    for (TempId arg : stmt.args) {
      const Stmt* source = definition(arg);
      if (source == nullptr) continue;
      if (masks_.contains(arg) || (dtype(arg) == DType::bool_ && first_.contains(source)))
        handed_.insert(arg);
      else
        need_second(*source);
    }
  }

  // Passing over a strip has to save more than the choice itself.
  bool is_worth_it() const {
    return std::any_of(second_.begin(), second_.end(), [&](const Stmt* stmt) {
      if (stmt->kind == StmtKind::load) return !is_loaded_first(*stmt);
      return stmt->kind == StmtKind::compute && !is_choice(*stmt) && !is_restriction(*stmt) && stmt->op != Op::copy;
    });
  }

  bool is_loaded_first(const Stmt& load) const {
    return std::any_of(first_.begin(), first_.end(), [&](const Stmt* stmt) {
      return stmt->kind == StmtKind::load && stmt->address.offset == load.address.offset &&
             program_.memory_of(stmt->address.buffer) == program_.memory_of(load.address.buffer);
    });
  }

  // Whether all of the first half may be done for a strip before any of the second half.
  bool preserves_order() const {
    std::set<BufferId> stored_first, stored_second;
    for (const Stmt& stmt : body_) {
      if (stmt.address.buffer < 0) continue;
      BufferId memory = program_.memory_of(stmt.address.buffer);
      bool stores = stmt.kind == StmtKind::store, first = first_.contains(&stmt), second = second_.contains(&stmt);
      if ((first && stored_second.contains(memory)) || (second && stored_first.contains(memory))) return false;
      if (stores) (first ? stored_first : stored_second).insert(memory);
    }
    return std::none_of(body_.begin(), body_.end(), [&](const Stmt& stmt) {
      return stmt.address.buffer >= 0 && second_.contains(&stmt) &&
             stored_first.contains(program_.memory_of(stmt.address.buffer));
    });
  }

  bool may_repeat_first() const {
    Body statements;
    for (const Stmt* stmt : out_.first) statements.push_back(*stmt);
    return !loads_what_it_stores(program_, statements);
  }

  void find_comparisons() {
    for (const Stmt* stmt : out_.first) {
      bool is_modulus = stmt->kind == StmtKind::compute && stmt->op == Op::absolute && dtype_kind(dtype(stmt->args[0])) == 'c';
      if (!is_modulus) continue;
      std::set<const Stmt*> users;
      for (const Stmt& user : body_)
        if (std::count(user.args.begin(), user.args.end(), stmt->dst) > 0) users.insert(&user);
      bool only_compared = std::all_of(users.begin(), users.end(), [&](const Stmt* user) {
        auto compared = compared_modulus(*user, {stmt->dst});
        return compared && first_.contains(user) && is_uniform(compared->number) && dtype(compared->number) == dtype(stmt->dst);
      });
      if (users.empty() || !only_compared) continue;
      out_.moduli.insert(stmt);
      out_.comparisons.insert(users.begin(), users.end());
    }
  }
  bool is_uniform(TempId temp) const {
    const Stmt* stmt = definition(temp);
    return stmt == nullptr || stmt->kind == StmtKind::constant;
  }

  const Program& program_;
  const Body& body_;
  MaskedLoop out_;
  std::map<TempId, const Stmt*> defined_;
  std::vector<const Stmt*> selected_;  // stores
  std::set<TempId> masks_, handed_, restricted_;
  std::set<const Stmt*> first_, second_;
  bool fits_ = true;
};

}  // namespace

std::optional<MaskedLoop> masked_loop(const Program& program, const Stmt& loop) { return Splitter(program, loop).run(); }

}  // namespace accel
