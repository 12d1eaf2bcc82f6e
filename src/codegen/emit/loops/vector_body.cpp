#include "codegen/emit/loops/vector_body.h"

#include <algorithm>
#include <utility>

namespace accel {

namespace {

bool can_preserve_lanes(const std::string& function, bool is_complex) {
  bool sum = function == "v_add" || function == "v_subtract";
  return sum || (!is_complex && (function == "v_multiply" || function == "v_divide"));
}

}  // namespace

VectorBody::VectorBody(const Copy& copy, const VectorLoop& loop, std::string on, bool exact)
    : copy_(copy), loop_(loop), on_(std::move(on)), exact_(exact) {
  for (const VectorLoop::Number& number : loop.numbers) names_[number.load->dst] = cat(temp_name(number.load->dst), "v[v]");
}

void VectorBody::write(Code& code, const std::vector<TempId>& results) {
  find_needed(results);
  for (const Stmt* stmt : loop_.computed)
    if (uses_.contains(stmt->dst)) write(code, *stmt);
}

std::string VectorBody::name(TempId temp) const {
  if (auto found = names_.find(temp); found != names_.end()) return found->second;
  if (!is_scalar(temp)) return temp_name(temp);
  if (dtype(temp) == DType::bool_) return cat("v_mask<M>(", temp_name(temp), ")");
  return cat("v_all<V>(", temp_name(temp), ")");
}

bool VectorBody::is_scalar(TempId temp) const {
  if (loop_.scalars.contains(temp)) return true;
  const Body& body = loop_.lanes->body;
  return std::none_of(body.begin(), body.end(), [&](const Stmt& stmt) { return stmt.dst == temp; });
}

std::string VectorBody::type(TempId temp) const {
  return dtype(temp) == DType::bool_ ? "M" : dtype_kind(dtype(temp)) == 'c' ? "complex_of<V>" : "V";
}

// Events of what nothing uses count too.
void VectorBody::find_needed(const std::vector<TempId>& results) {
  for (TempId temp : results) ++uses_[temp];
  for (auto stmt = loop_.computed.rbegin(); stmt != loop_.computed.rend(); ++stmt) {
    bool is_preserved = !exact_ && copy_.facts.must_preserve((*stmt)->dst);
    if (is_preserved) ++uses_[(*stmt)->dst];
    if (!uses_.contains((*stmt)->dst)) continue;
    if (from_squares(**stmt)) {
      ++uses_[modulus(**stmt)->args[0]];
      continue;
    }
    for (TempId arg : (*stmt)->args) ++uses_[arg];
  }
}

const Stmt* VectorBody::modulus(const Stmt& stmt) const {
  auto is_modulus = [&](const Stmt* s) { return s->op == Op::absolute && (s->dst == stmt.args[0] || s->dst == stmt.args[1]); };
  return *std::find_if(loop_.computed.begin(), loop_.computed.end(), is_modulus);
}

// The lanes in which a number is computed: a subset of the active lanes where an operation is done under a mask.
std::string VectorBody::lanes_of(const Stmt& stmt) const {
  std::string out;
  for (TempId arg : stmt.args) {
    auto found = under_.find(arg);
    if (found == under_.end() || out == found->second) continue;
    out = out.empty() ? found->second : cat("(M)(", out, " & ", found->second, ")");
  }
  return out;
}

void VectorBody::write(Code& code, const Stmt& stmt) {
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
  if (!exact_ && copy_.facts.must_preserve(stmt.dst)) code.line(cat("v_do_not_optimize(", temp_name(stmt.dst), ");"));
}

// Whether an operation is merged into the selection that uses it: one masked instruction, which preserves the other lanes.
bool VectorBody::can_wait(const Stmt& stmt) const {
  if (!can_preserve_lanes(vector_function(copy_.program, stmt), dtype_kind(dtype(stmt.dst)) == 'c')) return false;
  if (uses_.at(stmt.dst) != 1 || copy_.facts.must_preserve(stmt.dst)) return false;
  auto under = under_.find(stmt.dst);
  return under != under_.end() && std::any_of(loop_.computed.begin(), loop_.computed.end(), [&](const Stmt* user) {
           return (user->op == Op::where || user->op == Op::merge) && user->args[1] == stmt.dst && user->args[2] != stmt.dst &&
                  name(user->args[0]) == under->second;
         });
}

std::string VectorBody::choice(const Stmt& stmt) const {
  std::string mask = name(stmt.args[0]), other = name(stmt.args[2]);
  auto waits = waiting_.find(stmt.args[1]);
  if (waits == waiting_.end()) return cat("v_where(", mask, ", ", name(stmt.args[1]), ", ", other, ")");
  const Stmt& source = *waits->second;
  return cat(vector_function(copy_.program, source), "_or(", mask, ", ", name(source.args[0]), ", ", name(source.args[1]), ", ",
             other, ")");
}

std::string VectorBody::text(const Stmt& stmt, const std::string& lanes) const {
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

}  // namespace accel
