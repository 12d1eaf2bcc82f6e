// Writer of repeated loops over lanes in vectors (prelude part "vectors"). The state of a group of lanes stays in registers
// until none of them goes on. Lanes that have ended are out of all masks. Where squares have decided comparisons of a modulus,
// the exact masks are asked about lanes that have ended; should one go on after all, the group is done again by plain loops,
// from the state that is still in scratch.

#include <algorithm>
#include <map>

#include "codegen/emit/expressions.h"
#include "codegen/emit/kernel_function.h"

namespace accel {

namespace {

bool can_keep_others(const std::string& function, bool is_complex) {
  bool sum = function == "v_add" || function == "v_subtract";
  return sum || (!is_complex && (function == "v_multiply" || function == "v_divide"));
}

// What the lanes of one vector compute, `on` being those that go on.
class VectorBody {
 public:
  VectorBody(const Copy& copy, const VectorLoop& loop, std::string on, bool exact)
      : copy_(copy), loop_(loop), on_(std::move(on)), exact_(exact) {
    for (const VectorLoop::Number& number : loop.numbers) names_[number.load->dst] = cat(temp_name(number.load->dst), "v[v]");
  }

  // Appends to `code` what `results` need.
  void write(Code& code, const std::vector<TempId>& results) {
    find_needed(results);
    for (const Stmt* stmt : loop_.computed)
      if (uses_.contains(stmt->dst)) write(code, *stmt);
  }

  std::string name(TempId temp) const {
    if (auto found = names_.find(temp); found != names_.end()) return found->second;
    if (!is_scalar(temp)) return temp_name(temp);
    if (dtype(temp) == DType::bool_) return cat("(M)-(M)", temp_name(temp));
    return cat("v_all<V>(", temp_name(temp), ")");
  }

 private:
  DType dtype(TempId temp) const { return copy_.program.temps[static_cast<size_t>(temp)]; }
  bool is_scalar(TempId temp) const {
    if (loop_.scalars.contains(temp)) return true;
    const Body& body = loop_.lanes->body;
    return std::none_of(body.begin(), body.end(), [&](const Stmt& stmt) { return stmt.dst == temp; });
  }
  bool from_squares(const Stmt& stmt) const { return !exact_ && loop_.from_squares.contains(stmt.dst); }
  std::string type(TempId temp) const {
    return dtype(temp) == DType::bool_ ? "M" : dtype_kind(dtype(temp)) == 'c' ? "complex_of<V>" : "V";
  }

  // Events of what nothing uses count too.
  void find_needed(const std::vector<TempId>& results) {
    for (TempId temp : results) ++uses_[temp];
    for (auto stmt = loop_.computed.rbegin(); stmt != loop_.computed.rend(); ++stmt) {
      bool kept = !exact_ && copy_.facts.must_keep((*stmt)->dst);
      if (kept) ++uses_[(*stmt)->dst];
      if (!uses_.contains((*stmt)->dst)) continue;
      if (from_squares(**stmt)) {
        ++uses_[modulus(**stmt)->args[0]];
        continue;
      }
      for (TempId arg : (*stmt)->args) ++uses_[arg];
    }
  }

  const Stmt* modulus(const Stmt& stmt) const {
    auto is_modulus = [&](const Stmt* s) {
      return s->op == Op::absolute && (s->dst == stmt.args[0] || s->dst == stmt.args[1]);
    };
    return *std::find_if(loop_.computed.begin(), loop_.computed.end(), is_modulus);
  }

  // The lanes that have a number: fewer than those that go on where an operation is done under a mask.
  std::string lanes_of(const Stmt& stmt) const {
    std::string out;
    for (TempId arg : stmt.args) {
      auto found = under_.find(arg);
      if (found == under_.end() || out == found->second) continue;
      out = out.empty() ? found->second : cat("(M)(", out, " & ", found->second, ")");
    }
    return out;
  }

  void write(Code& code, const Stmt& stmt) {
    std::string under = lanes_of(stmt);
    bool chooses = stmt.op == Op::where || stmt.op == Op::merge;
    if (stmt.op == Op::lanes) under = under.empty() ? name(stmt.args[1]) : cat("(M)(", under, " & ", name(stmt.args[1]), ")");
    if (!under.empty() && !chooses) under_[stmt.dst] = under;
    if (stmt.op == Op::lanes || stmt.op == Op::copy) {
      names_[stmt.dst] = name(stmt.args[0]);
      return;
    }
    std::string value = chooses ? choice(stmt) : text(stmt, under.empty() ? on_ : under);
    if (!chooses && can_wait(stmt)) {
      waiting_[stmt.dst] = &stmt;
      return;
    }
    code.line(cat("[[maybe_unused]] const ", type(stmt.dst), " ", temp_name(stmt.dst), " = ", value, ";"));
    if (!exact_ && copy_.facts.must_keep(stmt.dst)) code.line(cat("v_keep(", temp_name(stmt.dst), ");"));
  }

  // Whether an operation is done where it is chosen, in the same lanes, so that it keeps what is in the others.
  bool can_wait(const Stmt& stmt) const {
    if (!can_keep_others(vector_function(copy_.program, stmt), dtype_kind(dtype(stmt.dst)) == 'c')) return false;
    if (uses_.at(stmt.dst) != 1 || copy_.facts.must_keep(stmt.dst)) return false;
    auto under = under_.find(stmt.dst);
    return under != under_.end() && std::any_of(loop_.computed.begin(), loop_.computed.end(), [&](const Stmt* user) {
             return (user->op == Op::where || user->op == Op::merge) && user->args[1] == stmt.dst &&
                    user->args[2] != stmt.dst && name(user->args[0]) == under->second;
           });
  }

  std::string choice(const Stmt& stmt) const {
    std::string mask = name(stmt.args[0]), other = name(stmt.args[2]);
    auto waits = waiting_.find(stmt.args[1]);
    if (waits == waiting_.end()) return cat("v_where(", mask, ", ", name(stmt.args[1]), ", ", other, ")");
    const Stmt& source = *waits->second;
    return cat(vector_function(copy_.program, source), "_or(", mask, ", ", name(source.args[0]), ", ", name(source.args[1]),
               ", ", other, ")");
  }

  std::string text(const Stmt& stmt, const std::string& lanes) const {
    if (from_squares(stmt)) {
      const Stmt* of = modulus(stmt);
      auto compared = *compared_modulus(stmt, {of->dst});
      std::string below = cat("v_surely_below(", lanes, ", ", name(of->args[0]), ", limit", stmt.dst, ")");
      return compared.below ? below : cat("v_not(", lanes, ", ", below, ")");
    }
    if (stmt.op == Op::real) return cat(name(stmt.args[0]), ".re");
    if (stmt.op == Op::imag) return cat(name(stmt.args[0]), ".im");
    if (stmt.op == Op::compose) return cat("{", name(stmt.args[0]), ", ", name(stmt.args[1]), "}");
    if (!exact_ && loop_.bounded.contains(stmt.dst)) return cat("v_bounded_square(", lanes, ", ", name(stmt.args[0]), ")");
    std::vector<std::string> items = {lanes};
    for (TempId arg : stmt.args) items.push_back(name(arg));
    return cat(vector_function(copy_.program, stmt), "(", listed(items), ")");
  }

  const Copy& copy_;
  const VectorLoop& loop_;
  std::string on_;
  bool exact_;
  std::map<TempId, std::string> names_;  // other than that of the temp
  std::map<TempId, std::string> under_;  // the mask outside of which a number does not exist
  std::map<TempId, const Stmt*> waiting_;
  std::map<TempId, int> uses_;
};

}  // namespace

void KernelFunction::repeat_in_groups(const Stmt& stmt, const VectorLoop& loop) {
  std::string lanes = cat("group_lanes<", cpp_type(loop.real), ">");
  code_.open(cat("for (i64 group = 0, last_group = ", dim(loop.lanes->extent), "; group < last_group; group += ", lanes, ")"));
  code_.line(cat("const i64 group_end = index_min(group + ", lanes, ", last_group), rounds = ", dim(stmt.extent), ";"));
  code_.line("bool done = false;");
  code_.raw("#if defined(ACCEL_VECTORS)\n");
  std::string quiet = loop.bounded.empty() ? "" : " && (frame->launch->ignored & accel_underflow) != 0";
  code_.open(cat("if (rounds > 0 && rounds <= 0x7fffffff", quiet, ")"));
  repeat_in_vectors(stmt, loop);
  code_.close();
  code_.raw("#endif\n");
  code_.open("if (!done)");
  group_lane_ = *copy_.dims.as_symbol(loop.lanes->var);
  plain_repeat(stmt);
  group_lane_.reset();
  code_.close();
  code_.close();
}

void KernelFunction::repeat_in_vectors(const Stmt& stmt, const VectorLoop& loop) {
  code_.line(cat("typedef Vectors<", cpp_type(loop.real), "> Kind;"));
  code_.line("typedef Kind::Numbers V;");
  code_.line("typedef Kind::Steps S;");
  code_.line("typedef Kind::Mask M;");
  code_.line("constexpr int vectors = 4;");
  load_vectors(loop);
  iterate_vectors(stmt, loop);
  check_ended_lanes(stmt, loop);
  code_.open("if (done)");
  store_vectors(loop);
  for (const VectorLoop::Assigned& assigned : loop.assigned) store_assigned(stmt, loop, assigned);
  code_.close();
}

void KernelFunction::open_vectors(const VectorLoop& loop) {
  code_.line("#pragma GCC unroll 4");
  code_.open("for (int v = 0; v < vectors; ++v)");
  code_.line(cat("[[maybe_unused]] const i64 ", variable(loop.lanes->var), " = group + v*Kind::lanes;"));
}

void KernelFunction::load_vectors(const VectorLoop& loop) {
  code_.line("M valid[vectors], on[vectors];");
  for (const VectorLoop::Number& number : loop.numbers) code_.line(cat("V ", temp_name(number.load->dst), "v[vectors];"));
  for (const VectorLoop::Assigned& assigned : loop.assigned)
    code_.line(cat("S ", temp_name(assigned.load->dst), "v[vectors];"));
  open_vectors(loop);
  code_.line(cat("valid[v] = on[v] = first_lanes<M>(group_end - ", variable(loop.lanes->var), ");"));
  for (const VectorLoop::Number& number : loop.numbers)
    code_.line(cat(temp_name(number.load->dst), "v[v] = v_load(valid[v], ", address(number.load->address), ", V{});"));
  for (const VectorLoop::Assigned& assigned : loop.assigned)
    code_.line(cat(temp_name(assigned.load->dst), "v[v] = v_all<S>(-1);"));
  code_.close();
}

// What the same for all lanes `temps` are computed from.
void KernelFunction::write_sources(const VectorLoop& loop, const std::vector<TempId>& temps) {
  std::vector<const Stmt*> all = loop.uniform;
  for (const Stmt& stmt : loop.lanes->body)
    if (loop.scalars.contains(stmt.dst)) all.push_back(&stmt);
  std::set<TempId> needed(temps.begin(), temps.end());
  for (auto stmt = all.rbegin(); stmt != all.rend(); ++stmt)
    if (needed.contains((*stmt)->dst)) needed.insert((*stmt)->args.begin(), (*stmt)->args.end());
  for (const Stmt* stmt : all)
    if (needed.contains(stmt->dst)) write(*stmt);
}

namespace {

std::vector<TempId> scalars_of_masks(const VectorLoop& loop) {
  std::vector<TempId> out;
  for (const Stmt* stmt : loop.computed) out.insert(out.end(), stmt->args.begin(), stmt->args.end());
  return out;
}

std::string any_of(const VectorBody& body, const std::vector<TempId>& masks) {
  std::string out;
  for (TempId mask : masks) out += cat(out.empty() ? "" : " | ", body.name(mask));
  return out;
}

}  // namespace

void KernelFunction::iterate_vectors(const Stmt& stmt, const VectorLoop& loop) {
  std::string round = variable(stmt.var);
  for (TempId temp : loop.from_squares) {
    const Stmt& comparison =
        **std::find_if(loop.computed.begin(), loop.computed.end(), [&](auto* s) { return s->dst == temp; });
    std::set<TempId> moduli;
    for (const Stmt* each : loop.computed)
      if (each->op == Op::absolute) moduli.insert(each->dst);
    TempId number = compared_modulus(comparison, moduli)->number;
    code_.line(cat("V limit", temp, ";"));
    code_.open("");
    code_.line(cat("[[maybe_unused]] const i64 ", round, " = 0;"));
    write_sources(loop, {number});
    code_.line(cat("limit", temp, " = v_all<V>(surely_below(", temp_name(number), "));"));
    code_.close();
  }
  code_.open(cat("for (i64 ", round, " = 0; ", round, " < rounds; ++", round, ")"));
  for (const Stmt* uniform : loop.uniform) write(*uniform);
  for (const Stmt& each : loop.lanes->body)
    if (loop.scalars.contains(each.dst)) write(each);
  code_.line(cat("[[maybe_unused]] const S here = v_all<S>((Kind::Step)", round, ");"));
  code_.line("u32 any = 0;");
  open_vectors(loop);
  VectorBody body(copy_, loop, "on[v]", false);
  std::vector<TempId> results = loop.masks;
  for (const VectorLoop::Number& number : loop.numbers)
    if (number.store != nullptr) results.push_back(number.store->args[0]);
  body.write(code_, results);
  for (const VectorLoop::Number& number : loop.numbers)
    if (number.store != nullptr)
      code_.line(cat("const V next", number.load->dst, " = ", body.name(number.store->args[0]), ";"));
  for (const VectorLoop::Number& number : loop.numbers)
    if (number.store != nullptr) code_.line(cat(temp_name(number.load->dst), "v[v] = next", number.load->dst, ";"));
  for (const VectorLoop::Assigned& assigned : loop.assigned) {
    std::string name = cat(temp_name(assigned.load->dst), "v[v]");
    code_.line(cat(name, " = v_where(", body.name(assigned.mask), ", here, ", name, ");"));
  }
  code_.line(cat("on[v] = ", any_of(body, loop.masks), ";"));
  code_.line("any |= on[v];");
  code_.close();
  code_.line("if (any == 0) break;");
  if (!stmt.quiet) code_.line(break_if_interrupted(round));
  code_.close();
}

void KernelFunction::check_ended_lanes(const Stmt& stmt, const VectorLoop& loop) {
  if (loop.from_squares.empty()) return code_.line("done = true;");
  code_.line("u32 open = 0, ended_lanes = 0;");
  code_.line("for (int v = 0; v < vectors; ++v) ended_lanes |= valid[v] & ~on[v];");
  code_.open("if (ended_lanes != 0)");
  code_.line(cat("[[maybe_unused]] const i64 ", variable(stmt.var), " = 0;"));
  write_sources(loop, scalars_of_masks(loop));
  open_vectors(loop);
  code_.line("const M ended = valid[v] & ~on[v];");
  VectorBody body(copy_, loop, "ended", true);
  body.write(code_, loop.masks);
  code_.line(cat("open |= ", any_of(body, loop.masks), ";"));
  code_.close();
  code_.close();
  code_.line("done = open == 0;");
}

void KernelFunction::store_vectors(const VectorLoop& loop) {
  open_vectors(loop);
  for (const VectorLoop::Number& number : loop.numbers)
    if (number.store != nullptr)
      code_.line(cat("v_store(valid[v], ", address(number.store->address), ", ", temp_name(number.load->dst), "v[v]);"));
  code_.close();
}

void KernelFunction::store_assigned(const Stmt& stmt, const VectorLoop& loop, const VectorLoop::Assigned& assigned) {
  std::string lane = variable(loop.lanes->var), round = variable(stmt.var), old = temp_name(assigned.load->dst);
  code_.open("");
  code_.line(cat("Kind::Step lasts[group_lanes<", cpp_type(loop.real), ">] __attribute__((aligned(64)));"));
  code_.line("#pragma GCC unroll 4");
  code_.line(cat("for (int v = 0; v < vectors; ++v) *(S*)(lasts + v*Kind::lanes) = ", old, "v[v];"));
  code_.line("#pragma GCC ivdep");
  code_.open(cat("for (i64 ", lane, " = group; ", lane, " < group_end; ++", lane, ")"));
  code_.line(cat("const i64 last = lasts[", lane, " - group];"));
  code_.line(cat("[[maybe_unused]] const i64 ", round, " = index_max(last, 0);"));
  write_sources(loop, {assigned.value});
  write(*assigned.load);
  code_.line(cat("store_", type(assigned.load->dst), "(", address(assigned.store->address), ", last < 0 ? ", old, " : ",
                 temp_name(assigned.value), ");"));
  code_.close();
  code_.close();
}

}  // namespace accel
