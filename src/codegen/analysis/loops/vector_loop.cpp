#include "codegen/analysis/loops/vector_loop.h"

#include <algorithm>
#include <map>

#include "codegen/analysis/index_ranges.h"

namespace accel {

namespace {

bool is_choice(Op op) { return op == Op::where || op == Op::merge; }
bool is_mask_op(Op op, int arity) { return op_info(op).arity == arity && !vector_function(op, 'b').empty(); }
bool is_both(Op op) { return is_mask_op(op, 2); }
bool is_not(Op op) { return is_mask_op(op, 1); }

char kind_of(DType dtype) { return dtype == DType::bool_ ? 'b' : dtype_kind(dtype) == 'c' ? 'c' : 'r'; }

class Finder {
 public:
  Finder(const Program& program, const Stmt& repeat) : program_(program), repeat_(repeat), dims_(program.dims) {}

  std::optional<VectorLoop> run() {
    if (!split() || !sort_statements() || !pair_stores() || !pick_numbers() || !check_masks() || !check_computed())
      return std::nullopt;
    find_counted();
    find_squares();
    find_bounded();
    return out_;
  }

 private:
  DType dtype(TempId temp) const { return program_.temps[static_cast<size_t>(temp)]; }
  bool is_scalar(TempId temp) const { return !defined_.contains(temp) || out_.scalars.contains(temp); }
  const Stmt* definition(TempId temp) const {
    auto found = defined_.find(temp);
    return found == defined_.end() ? nullptr : found->second;
  }
  const Stmt* computation(TempId temp) const {
    const Stmt* stmt = definition(temp);
    return stmt != nullptr && stmt->kind == StmtKind::compute ? stmt : nullptr;
  }
  bool names(Dim d, Dim variable) const { return dims_.names(d, *dims_.as_symbol(variable)); }
  std::optional<int64_t> stride(Dim offset) { return dims_.as_constant(step_over(dims_, offset, out_.lanes->var)); }

  // Expects statements for all lanes, the loop over lanes, and a loop that finds out whether any lane is active.
  bool split() {
    const Body& body = repeat_.body;
    auto loop = std::find_if(body.begin(), body.end(), [](const Stmt& stmt) { return !stmt.body.empty(); });
    if (repeat_.args.size() != 1 || loop == body.end() || loop->kind != StmtKind::loop || loop->loop_kind != LoopKind::simd)
      return false;
    auto last = body.end() - 1;
    if (last <= loop || last->kind != StmtKind::loop || !(last->extent == loop->extent)) return false;
    for (auto stmt = body.begin(); stmt != loop; ++stmt) out_.uniform.push_back(&*stmt);
    out_.lanes = &*loop;
    for (const Stmt& stmt : loop->body)
      if (stmt.dst >= 0) defined_[stmt.dst] = &stmt;
    return !names(loop->extent, repeat_.var);
  }

  bool sort_statements() {
    for (const Stmt& stmt : out_.lanes->body) {
      for (TempId arg : stmt.args) users_[arg].push_back(&stmt);
      if (stmt.kind == StmtKind::store)
        stores_.push_back(&stmt);
      else if (stmt.kind == StmtKind::load && stores_.empty() && sort_load(stmt))
        continue;
      else if (stmt.kind == StmtKind::constant || stmt.kind == StmtKind::input ||
               (stmt.kind == StmtKind::index && !names(stmt.dim, out_.lanes->var)))
        out_.scalars.insert(stmt.dst);
      else if (stmt.kind != StmtKind::compute)
        return false;
      else if (std::all_of(stmt.args.begin(), stmt.args.end(), [&](TempId arg) { return is_scalar(arg); }))
        out_.scalars.insert(stmt.dst);
    }
    return true;
  }

  bool sort_load(const Stmt& stmt) {
    if (names(stmt.address.offset, repeat_.var)) return false;
    auto distance = stride(stmt.address.offset);
    if (distance == 0) out_.scalars.insert(stmt.dst);
    if (distance == item_size(dtype(stmt.dst))) loads_.push_back(&stmt);
    return distance == 0 || distance == item_size(dtype(stmt.dst));
  }

  // Each store is to scratch that one load reads, or it stores whether the lane stays active.
  bool pair_stores() {
    std::set<BufferId> stored;
    for (const Stmt* store : stores_) {
      stored.insert(store->address.buffer);
      if (program_.buffers[static_cast<size_t>(store->address.buffer)].kind != BufferKind::scratch) return false;
      if (stride(store->address.offset) != item_size(dtype(store->args[0]))) return false;
      auto same = [&](const Stmt* load) {
        return load->address.buffer == store->address.buffer && load->address.offset == store->address.offset;
      };
      auto load = std::find_if(loads_.begin(), loads_.end(), same);
      if (load != loads_.end()) {
        if (!store_of_.emplace(*load, store).second) return false;
      } else if (dtype(store->args[0]) != DType::uint32 || !out_.masks.empty() || !add_masks(store->args[0])) {
        return false;
      }
    }
    // Other loads of the stored buffers would see other elements: only loads with a store of their own are allowed.
    return !out_.masks.empty() && std::all_of(loads_.begin(), loads_.end(), [&](const Stmt* load) {
      return store_of_.contains(load) || !stored.contains(load->address.buffer);
    });
  }

  bool add_masks(TempId bits) {
    const Stmt* stmt = computation(bits);
    if (stmt == nullptr || is_scalar(bits)) return false;
    aside_.insert(bits);
    if (stmt->op == Op::bitwise_or) return add_masks(stmt->args[0]) && add_masks(stmt->args[1]);
    if (stmt->op != Op::astype || dtype(stmt->args[0]) != DType::bool_ || is_scalar(stmt->args[0])) return false;
    out_.masks.push_back(stmt->args[0]);
    return true;
  }
  bool is_mask(TempId temp) const { return std::find(out_.masks.begin(), out_.masks.end(), temp) != out_.masks.end(); }

  bool pick_numbers() {
    bool has_type = false;
    for (const Stmt* load : loads_) {
      auto found = store_of_.find(load);
      const Stmt* store = found == store_of_.end() ? nullptr : found->second;
      DType type = dtype(load->dst);
      if (store != nullptr && add_assigned(*load, *store)) continue;
      if (type != DType::float32 && type != DType::float64) return false;
      if (has_type && type != out_.real) return false;
      has_type = true;
      out_.real = type;
      if (store != nullptr && !preserves_state(store->args[0], 0, load)) return false;
      out_.numbers.push_back({load, store});
    }
    return has_type;
  }

  // state = mask ? value : state, which nothing else uses.
  bool add_assigned(const Stmt& load, const Stmt& store) {
    const Stmt* choice = computation(store.args[0]);
    bool chooses = choice != nullptr && is_choice(choice->op) && choice->args[2] == load.dst && users_[load.dst].size() == 1;
    if (!chooses || users_[choice->dst].size() != 1 || !is_mask(choice->args[0]) || !is_scalar(choice->args[1])) return false;
    aside_.insert(choice->dst);
    out_.assigned.push_back({&load, &store, choice->args[0], choice->args[1]});
    return true;
  }

  // Whether a temp, of a complex one its part, is what `load` gives where no mask holds.
  bool preserves_state(TempId temp, size_t part, const Stmt* load) const {
    const Stmt* stmt = definition(temp);
    if (stmt == load) return true;
    if (stmt == nullptr || stmt->kind != StmtKind::compute) return false;
    if (stmt->op == Op::real || stmt->op == Op::imag) return preserves_state(stmt->args[0], stmt->op == Op::imag, load);
    if (stmt->op == Op::compose) return preserves_state(stmt->args[part], 0, load);
    return is_choice(stmt->op) && is_mask(stmt->args[0]) && preserves_state(stmt->args[2], part, load);
  }

  // The masks depend on the state and what never changes.
  bool check_masks() const {
    return std::none_of(out_.masks.begin(), out_.masks.end(), [&](TempId mask) { return follows_counter(mask); });
  }
  bool follows_counter(TempId temp) const {
    const Stmt* stmt = definition(temp);
    if (stmt == nullptr) {
      auto found = std::find_if(out_.uniform.begin(), out_.uniform.end(), [&](const Stmt* s) { return s->dst == temp; });
      if (found == out_.uniform.end()) return false;
      stmt = *found;
    }
    if (stmt->kind == StmtKind::index && names(stmt->dim, repeat_.var)) return true;
    if (stmt->kind == StmtKind::load && names(stmt->address.offset, repeat_.var)) return true;
    return std::any_of(stmt->args.begin(), stmt->args.end(), [&](TempId arg) { return follows_counter(arg); });
  }

  void find_counted() {
    for (const Stmt* stmt : out_.uniform)
      if (stmt->dst >= 0 && follows_counter(stmt->dst)) out_.counted.insert(stmt->dst);
    for (TempId temp : out_.scalars)
      if (follows_counter(temp)) out_.counted.insert(temp);
  }

  bool check_computed() {
    for (const Stmt& stmt : out_.lanes->body) {
      if (stmt.kind != StmtKind::compute || is_scalar(stmt.dst) || aside_.contains(stmt.dst)) continue;
      if (vector_function(program_, stmt).empty()) return false;
      for (TempId temp : stmt.args)
        if (aside_.contains(temp) || !is_fitting(temp)) return false;
      if (!is_fitting(stmt.dst)) return false;
      out_.computed.push_back(&stmt);
    }
    return true;
  }
  bool is_fitting(TempId temp) const { return dtype(temp) == DType::bool_ || part_dtype(dtype(temp)) == out_.real; }

  // Finds comparisons that squares may decide. A comparison that they leave undecided can only take lanes from the mask, which
  // is monotone in it.
  void find_squares() {
    if (out_.masks.size() != 1) return;
    visit(out_.masks[0], true);
    std::set<TempId> moduli;
    for (const Stmt* stmt : out_.computed)
      if (stmt->op == Op::absolute && dtype_kind(dtype(stmt->args[0])) == 'c') moduli.insert(stmt->dst);
    for (auto [temp, signs] : signs_) {
      const Stmt* stmt = computation(temp);
      auto compared = stmt == nullptr ? std::nullopt : compared_modulus(*stmt, moduli);
      if (!compared || !is_scalar(compared->number) || signs != (compared->below ? 1 : 2)) continue;
      bool inside = temp == out_.masks[0] ||
                    std::all_of(users_[temp].begin(), users_[temp].end(), [&](const Stmt* user) { return is_part(*user); });
      if (inside) out_.from_squares.insert(temp);
    }
  }
  // Whether a statement is a part of the mask that nothing but it uses.
  bool is_part(const Stmt& stmt) {
    if (!signs_.contains(stmt.dst) || !(is_both(stmt.op) || is_not(stmt.op))) return false;
    return stmt.dst == out_.masks[0] ||
           std::all_of(users_[stmt.dst].begin(), users_[stmt.dst].end(), [&](const Stmt* user) { return is_part(*user); });
  }
  void visit(TempId temp, bool positive) {
    int sign = positive ? 1 : 2;
    if ((signs_[temp] & sign) != 0) return;
    signs_[temp] |= sign;
    const Stmt* stmt = computation(temp);
    if (stmt == nullptr || !(is_both(stmt->op) || is_not(stmt->op))) return;
    for (TempId arg : stmt->args) visit(arg, positive != is_not(stmt->op));
  }

  void find_bounded() {
    for (const Stmt* stmt : out_.computed)
      if (stmt->op == Op::fused_multiply && is_bounded(stmt->args[0], stmt->args[1])) out_.bounded.insert(stmt->dst);
  }
  // Whether both are one number, of lanes in which its modulus is surely below something.
  bool is_bounded(TempId a, TempId b) const {
    const Stmt *first = computation(a), *second = computation(b);
    bool lanes = first != nullptr && second != nullptr && first->op == Op::lanes && second->op == Op::lanes;
    if (!lanes || first->args != second->args || !out_.from_squares.contains(first->args[1])) return false;
    const Stmt* comparison = computation(first->args[1]);
    return std::any_of(out_.computed.begin(), out_.computed.end(), [&](const Stmt* stmt) {
      if (stmt->op != Op::absolute || stmt->args[0] != first->args[0]) return false;
      auto compared = compared_modulus(*comparison, {stmt->dst});
      return compared && compared->below;
    });
  }

  const Program& program_;
  const Stmt& repeat_;
  DimTable dims_;
  VectorLoop out_;
  std::map<TempId, const Stmt*> defined_;  // in the loop over lanes
  std::map<TempId, std::vector<const Stmt*>> users_;
  std::vector<const Stmt*> loads_, stores_;
  std::map<const Stmt*, const Stmt*> store_of_;  // by load
  std::set<TempId> aside_;                       // what is not computed for each lane in each iteration
  std::map<TempId, int> signs_;                  // parts of the mask: 1: it is increasing in them, 2: decreasing, 3: neither
};

}  // namespace

std::optional<VectorLoop> vector_loop(const Program& program, const Stmt& repeat) { return Finder(program, repeat).run(); }

std::string vector_function(const Program& program, const Stmt& stmt) {
  auto dtype = [&](TempId temp) { return program.temps[static_cast<size_t>(temp)]; };
  switch (stmt.op) {
    case Op::real:
    case Op::imag:
    case Op::compose:
    case Op::lanes:
    case Op::copy:
      return op_info(stmt.op).name;
    case Op::where:
    case Op::merge:
      return kind_of(dtype(stmt.dst)) == 'b' ? "" : "v_where";
    default:
      break;
  }
  return vector_function(stmt.op, kind_of(dtype(stmt.args[0])));
}

std::optional<ComparedModulus> compared_modulus(const Stmt& stmt, const std::set<TempId>& moduli) {
  bool less = stmt.op == Op::less || stmt.op == Op::less_equal,
       greater = stmt.op == Op::greater || stmt.op == Op::greater_equal;
  if (stmt.kind != StmtKind::compute || (!less && !greater)) return std::nullopt;
  bool first = moduli.contains(stmt.args[0]), second = moduli.contains(stmt.args[1]);
  if (first == second) return std::nullopt;
  return ComparedModulus{stmt.args[first ? 0 : 1], stmt.args[first ? 1 : 0], first == less};
}

}  // namespace accel
