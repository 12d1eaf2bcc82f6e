#include "ir/integers/dim.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

namespace accel {

namespace {

// One hash-consed expression. `value` is the constant or the symbol index.
// mul: an optional constant factor first, then atoms. add: terms by falling degree, the constant last.
struct Expression {
  DimKind kind = DimKind::constant;
  int64_t value = 0;
  std::vector<int32_t> operands;
  bool operator==(const Expression&) const = default;
};

struct ExpressionHash {
  size_t operator()(const Expression& e) const {
    uint64_t h = static_cast<uint64_t>(e.kind) * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(e.value);
    for (int32_t id : e.operands) h = (h ^ static_cast<uint64_t>(id)) * 0x100000001b3u + 0x9e3779b9u;
    return static_cast<size_t>(h ^ (h >> 29));
  }
};

// Arithmetic that wraps like the emitted code (-fwrapv).
int64_t wrap_add(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }
int64_t wrap_mul(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); }

// Python's // and %; a zero divisor gives 0, as in emitted code.
int64_t floor_quotient(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return wrap_mul(a, -1);
  int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}
int64_t floor_remainder(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  int64_t r = a % b;
  return (r != 0 && (r < 0) != (b < 0)) ? r + b : r;
}

int64_t apply(DimKind kind, int64_t a, int64_t b) {
  switch (kind) {
    case DimKind::add:
      return wrap_add(a, b);
    case DimKind::mul:
      return wrap_mul(a, b);
    case DimKind::floordiv:
      return floor_quotient(a, b);
    case DimKind::mod:
      return floor_remainder(a, b);
    case DimKind::min:
      return std::min(a, b);
    case DimKind::max:
      return std::max(a, b);
    default:
      return 0;
  }
}

}  // namespace

struct DimTable::State {
  std::vector<Expression> expressions;
  std::unordered_map<Expression, int32_t, ExpressionHash> ids;
  std::vector<int64_t> lengths;  // of the expressions
  int next_variable = first_variable;

  int32_t intern(Expression e) {
    auto [it, fresh] = ids.try_emplace(e, static_cast<int32_t>(expressions.size()));
    if (!fresh) return it->second;
    int64_t length = 1;
    for (int32_t id : e.operands) length = std::min(length + lengths[static_cast<size_t>(id)], int64_t{1} << 40);
    lengths.push_back(length);
    expressions.push_back(std::move(e));
    return it->second;
  }

  const Expression& at(Dim d) const { return expressions[static_cast<size_t>(d.id)]; }
  const Expression& at(int32_t id) const { return expressions[static_cast<size_t>(id)]; }

  // Structural order, so that the normal form does not depend on the order of creation.
  int compare(int32_t a, int32_t b) const {
    if (a == b) return 0;
    const Expression &x = at(a), &y = at(b);
    if (x.kind != y.kind) return x.kind < y.kind ? -1 : 1;
    if (x.value != y.value) return x.value < y.value ? -1 : 1;
    return compare(x.operands, y.operands);
  }
  int compare(const std::vector<int32_t>& a, const std::vector<int32_t>& b) const {
    for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
      if (int c = compare(a[i], b[i])) return c;
    }
    return a.size() == b.size() ? 0 : (a.size() < b.size() ? -1 : 1);
  }

  // A polynomial: monomial (sorted atoms, with repeats) -> coefficient. Higher degrees come first.
  struct MonomialOrder {
    const State* state;
    bool operator()(const std::vector<int32_t>& a, const std::vector<int32_t>& b) const {
      if (a.size() != b.size()) return a.size() > b.size();
      return state->compare(a, b) < 0;
    }
  };
  using Polynomial = std::map<std::vector<int32_t>, int64_t, MonomialOrder>;

  Polynomial polynomial(Dim d) const {
    Polynomial out(MonomialOrder{this});
    if (at(d).kind == DimKind::add) {
      for (int32_t term : at(d).operands) add_term(out, term);
    } else {
      add_term(out, d.id);
    }
    return out;
  }

  void add_term(Polynomial& out, int32_t term) const {
    const Expression& e = at(term);
    std::vector<int32_t> atoms;
    int64_t coefficient = 1;
    if (e.kind == DimKind::constant) {
      coefficient = e.value;
    } else if (e.kind == DimKind::mul) {
      bool scaled = at(e.operands[0]).kind == DimKind::constant;
      if (scaled) coefficient = at(e.operands[0]).value;
      atoms.assign(e.operands.begin() + (scaled ? 1 : 0), e.operands.end());
    } else {
      atoms = {term};
    }
    accumulate(out, std::move(atoms), coefficient);
  }

  static void accumulate(Polynomial& out, std::vector<int32_t> atoms, int64_t coefficient) {
    if (coefficient == 0) return;
    auto it = out.try_emplace(std::move(atoms), 0).first;
    it->second = wrap_add(it->second, coefficient);
    if (it->second == 0) out.erase(it);
  }

  Dim from_polynomial(const Polynomial& p) {
    if (p.empty()) return constant(0);
    std::vector<int32_t> terms;
    for (const auto& [atoms, coefficient] : p) terms.push_back(term(atoms, coefficient));
    if (terms.size() == 1) return Dim{terms[0]};
    return Dim{intern({DimKind::add, 0, std::move(terms)})};
  }

  int32_t term(const std::vector<int32_t>& atoms, int64_t coefficient) {
    if (atoms.empty()) return constant(coefficient).id;
    if (coefficient == 1 && atoms.size() == 1) return atoms[0];
    std::vector<int32_t> factors;
    if (coefficient != 1) factors.push_back(constant(coefficient).id);
    factors.insert(factors.end(), atoms.begin(), atoms.end());
    return intern({DimKind::mul, 0, std::move(factors)});
  }

  Dim constant(int64_t value) { return Dim{intern({DimKind::constant, value, {}})}; }

  std::optional<int64_t> as_constant(Dim d) const {
    if (at(d).kind != DimKind::constant) return std::nullopt;
    return at(d).value;
  }

  Dim binary(DimKind kind, Dim a, Dim b) { return Dim{intern({kind, 0, {a.id, b.id}})}; }

  // Splits d into k * quotient + rest where rest has the terms that k does not divide. Requires k > 0.
  std::pair<Polynomial, Polynomial> divide_terms(Dim d, int64_t k) const {
    Polynomial quotient(MonomialOrder{this}), rest(MonomialOrder{this});
    for (const auto& [atoms, coefficient] : polynomial(d)) {
      if (atoms.empty()) {
        accumulate(quotient, atoms, floor_quotient(coefficient, k));
        accumulate(rest, atoms, floor_remainder(coefficient, k));
      } else if (coefficient % k == 0) {
        accumulate(quotient, atoms, coefficient / k);
      } else {
        accumulate(rest, atoms, coefficient);
      }
    }
    return {std::move(quotient), std::move(rest)};
  }

  // Splits d into by * quotient + rest for a divisor that is not constant: the quotient has the terms with all factors of its
  // only term.
  std::pair<Polynomial, Polynomial> divide_terms(Dim d, Dim by) const {
    Polynomial quotient(MonomialOrder{this}), rest(MonomialOrder{this});
    const Polynomial divisor = polynomial(by);
    const auto& [factors, scale] = *divisor.begin();
    auto before = [this](int32_t x, int32_t y) { return compare(x, y) < 0; };
    for (const auto& [atoms, coefficient] : polynomial(d)) {
      bool divides = divisor.size() == 1 && scale > 0 && coefficient % scale == 0 &&
                     std::includes(atoms.begin(), atoms.end(), factors.begin(), factors.end(), before);
      std::vector<int32_t> left = atoms;
      if (divides) {
        left.clear();
        std::set_difference(atoms.begin(), atoms.end(), factors.begin(), factors.end(), std::back_inserter(left), before);
      }
      accumulate(divides ? quotient : rest, std::move(left), divides ? coefficient / scale : coefficient);
    }
    return {std::move(quotient), std::move(rest)};
  }
};

DimTable::DimTable() : state_(std::make_unique<State>()) {}
DimTable::DimTable(const DimTable& other) : state_(std::make_unique<State>(*other.state_)) {}
DimTable& DimTable::operator=(const DimTable& other) {
  if (this != &other) state_ = std::make_unique<State>(*other.state_);
  return *this;
}
// A moved-from table stays usable: it is empty.
DimTable::DimTable(DimTable&& other) noexcept : state_(std::exchange(other.state_, std::make_unique<State>())) {}
DimTable& DimTable::operator=(DimTable&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}
DimTable::~DimTable() = default;

Dim DimTable::constant(int64_t value) { return state_->constant(value); }
Dim DimTable::symbol(int index) {
  state_->next_variable = std::max(state_->next_variable, index + 1);
  return Dim{state_->intern({DimKind::symbol, index, {}})};
}
Dim DimTable::new_variable() { return symbol(state_->next_variable); }

Dim DimTable::add(Dim a, Dim b) {
  auto sum = state_->polynomial(a);
  for (const auto& [atoms, coefficient] : state_->polynomial(b)) State::accumulate(sum, atoms, coefficient);
  return state_->from_polynomial(sum);
}

Dim DimTable::sub(Dim a, Dim b) { return add(a, mul(b, -1)); }

Dim DimTable::mul(Dim a, Dim b) {
  State::Polynomial out(State::MonomialOrder{state_.get()});
  auto right = state_->polynomial(b);
  auto before = [this](int32_t x, int32_t y) { return state_->compare(x, y) < 0; };
  for (const auto& [atoms, coefficient] : state_->polynomial(a)) {
    for (const auto& [more, factor] : right) {
      std::vector<int32_t> merged;
      std::merge(atoms.begin(), atoms.end(), more.begin(), more.end(), std::back_inserter(merged), before);
      State::accumulate(out, std::move(merged), wrap_mul(coefficient, factor));
    }
  }
  return state_->from_polynomial(out);
}

double DimTable::weight(Dim d) const {
  double sum = 0;
  for (const auto& [atoms, coefficient] : state_->polynomial(d)) sum += std::abs(static_cast<double>(coefficient));
  return sum;
}

Dim DimTable::floordiv(Dim a, Dim b) {
  auto x = as_constant(a), k = as_constant(b);
  if (x && k) return constant(floor_quotient(*x, *k));
  if (x == 0) return a;
  if (!k || *k <= 0) return state_->binary(DimKind::floordiv, a, b);
  auto [quotient, rest] = state_->divide_terms(a, *k);
  Dim whole = state_->from_polynomial(quotient), left = state_->from_polynomial(rest);
  auto c = as_constant(left);  // in [0, k): adds nothing
  return c ? whole : add(whole, state_->binary(DimKind::floordiv, left, b));
}

Dim DimTable::mod(Dim a, Dim b) {
  auto x = as_constant(a), k = as_constant(b);
  if (x && k) return constant(floor_remainder(*x, *k));
  if (x == 0) return a;
  if (!k || *k <= 0) return state_->binary(DimKind::mod, a, b);
  Dim left = state_->from_polynomial(state_->divide_terms(a, *k).second);
  return as_constant(left) ? left : state_->binary(DimKind::mod, left, b);
}

Dim DimTable::quotient(Dim a, Dim b) {
  if (as_constant(b)) return floordiv(a, b);
  auto [whole, rest] = state_->divide_terms(a, b);
  return add(state_->from_polynomial(whole), floordiv(state_->from_polynomial(rest), b));
}

Dim DimTable::remainder(Dim a, Dim b) {
  return mod(as_constant(b) ? a : state_->from_polynomial(state_->divide_terms(a, b).second), b);
}

Dim DimTable::min(Dim a, Dim b) {
  if (auto difference = as_constant(sub(a, b))) return *difference <= 0 ? a : b;
  return state_->compare(a.id, b.id) < 0 ? state_->binary(DimKind::min, a, b) : state_->binary(DimKind::min, b, a);
}

Dim DimTable::max(Dim a, Dim b) {
  if (auto difference = as_constant(sub(a, b))) return *difference >= 0 ? a : b;
  return state_->compare(a.id, b.id) < 0 ? state_->binary(DimKind::max, a, b) : state_->binary(DimKind::max, b, a);
}

Dim DimTable::product(std::span<const Dim> dims) {
  Dim out = constant(1);
  for (Dim d : dims) out = mul(out, d);
  return out;
}

Dim DimTable::sum(std::span<const Dim> dims) {
  State::Polynomial out(State::MonomialOrder{state_.get()});
  for (Dim d : dims)
    for (const auto& [atoms, coefficient] : state_->polynomial(d)) State::accumulate(out, atoms, coefficient);
  return state_->from_polynomial(out);
}

DimKind DimTable::kind(Dim d) const { return state_->at(d).kind; }
std::optional<int64_t> DimTable::as_constant(Dim d) const { return state_->as_constant(d); }

std::optional<int> DimTable::as_symbol(Dim d) const {
  if (kind(d) != DimKind::symbol) return std::nullopt;
  return static_cast<int>(state_->at(d).value);
}

int64_t DimTable::length(Dim d) const { return state_->lengths[static_cast<size_t>(d.id)]; }

std::vector<Dim> DimTable::operands(Dim d) const {
  std::vector<Dim> out;
  for (int32_t id : state_->at(d).operands) out.push_back(Dim{id});
  return out;
}

std::vector<int> DimTable::symbols(Dim d) const {
  std::vector<int> out;
  std::vector<Dim> open = {d};
  while (!open.empty()) {
    Dim next = open.back();
    open.pop_back();
    if (auto s = as_symbol(next)) out.push_back(*s);
    for (Dim operand : operands(next)) open.push_back(operand);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

bool DimTable::names(Dim d, int symbol) const {
  std::vector<int> all = symbols(d);
  return std::binary_search(all.begin(), all.end(), symbol);
}

bool DimTable::has_variables(Dim d) const {
  std::vector<int> all = symbols(d);
  return !all.empty() && is_variable(all.back());
}

std::optional<Dim> DimTable::slope(Dim d, int symbol) {
  if (!names(d, symbol)) return constant(0);
  switch (kind(d)) {
    case DimKind::symbol:
      return constant(1);
    case DimKind::add:
      return slope_of_sum(d, symbol);
    case DimKind::mul:
      return slope_of_product(d, symbol);
    default:
      return std::nullopt;
  }
}

std::optional<Dim> DimTable::slope_of_sum(Dim d, int symbol) {
  Dim out = constant(0);
  for (Dim part : operands(d)) {
    std::optional<Dim> each = slope(part, symbol);
    if (!each) return std::nullopt;
    out = add(out, *each);
  }
  return out;
}

std::optional<Dim> DimTable::slope_of_product(Dim d, int symbol) {
  Dim out = constant(1);
  bool found = false;
  for (Dim part : operands(d)) {
    bool named = names(part, symbol);
    std::optional<Dim> factor = named ? slope(part, symbol) : part;
    if (!factor || (named && found)) return std::nullopt;
    found = found || named;
    out = mul(out, *factor);
  }
  return out;
}

int64_t DimTable::evaluate(Dim d, std::span<const int64_t> symbols) const {
  const Expression& e = state_->at(d);
  if (e.kind == DimKind::constant) return e.value;
  if (e.kind == DimKind::symbol) {
    assert(static_cast<size_t>(e.value) < symbols.size());
    return symbols[static_cast<size_t>(e.value)];
  }
  int64_t out = evaluate(Dim{e.operands[0]}, symbols);
  for (size_t i = 1; i < e.operands.size(); ++i) out = apply(e.kind, out, evaluate(Dim{e.operands[i]}, symbols));
  return out;
}

std::optional<int64_t> DimTable::known(Dim d, std::span<const int64_t> values) const {
  std::vector<int> named = symbols(d);
  if (!named.empty() && static_cast<size_t>(named.back()) >= values.size()) return std::nullopt;
  return evaluate(d, values);
}

Dim DimTable::with_operands(Dim d, const std::function<Dim(Dim)>& operand) {
  const std::vector<Dim> old = operands(d);
  std::vector<Dim> parts;
  for (Dim part : old) parts.push_back(operand(part));
  if (parts == old) return d;
  switch (kind(d)) {
    case DimKind::add:
      return sum(parts);
    case DimKind::mul:
      return product(parts);
    case DimKind::floordiv:
      return floordiv(parts[0], parts[1]);
    case DimKind::mod:
      return mod(parts[0], parts[1]);
    case DimKind::min:
      return min(parts[0], parts[1]);
    default:
      return max(parts[0], parts[1]);
  }
}

Dim DimTable::substitute(Dim d, const std::function<std::optional<Dim>(int symbol)>& replace) {
  if (auto s = as_symbol(d)) return replace(*s).value_or(d);
  return with_operands(d, [&](Dim part) { return substitute(part, replace); });
}

Dim DimTable::substitute(Dim d, int symbol, Dim by) {
  return substitute(d, [&](int s) { return s == symbol ? std::optional(by) : std::nullopt; });
}

std::string DimTable::text(Dim d) const {
  const Expression& e = state_->at(d);
  auto part = [&](size_t i) { return text(Dim{e.operands[i]}); };
  auto bracket = [](const char* open, const std::string& inner) { return std::string(open).append(inner).append(")"); };
  // Operands of * // % that are sums need brackets.
  auto factor = [&](size_t i) {
    bool sum = state_->at(e.operands[i]).kind == DimKind::add;
    return sum ? bracket("(", part(i)) : part(i);
  };
  // The texts are Python too, where a // b*c is (a // b)*c.
  auto divisor = [&] {
    DimKind kind = state_->at(e.operands[1]).kind;
    return kind == DimKind::add || kind == DimKind::mul ? bracket("(", part(1)) : part(1);
  };
  switch (e.kind) {
    case DimKind::constant:
      return std::to_string(e.value);
    case DimKind::symbol: {
      bool variable = e.value >= first_variable;
      return std::string(variable ? "i" : "s").append(std::to_string(variable ? e.value - first_variable : e.value));
    }
    case DimKind::floordiv:
      return bracket("(", factor(0) + " // " + divisor());
    case DimKind::mod:
      return bracket("(", factor(0) + " % " + divisor());
    case DimKind::min:
      return bracket("min(", part(0) + ", " + part(1));
    case DimKind::max:
      return bracket("max(", part(0) + ", " + part(1));
    case DimKind::mul: {
      bool negated = state_->at(e.operands[0]) == Expression{DimKind::constant, -1, {}};
      std::string out = negated ? "-" : factor(0);
      for (size_t i = 1; i < e.operands.size(); ++i) out.append(negated && i == 1 ? "" : "*").append(factor(i));
      return out;
    }
    case DimKind::add: {
      std::string out = part(0);
      for (size_t i = 1; i < e.operands.size(); ++i) {
        std::string next = part(i);
        bool minus = next[0] == '-';
        out.append(minus ? " - " : " + ").append(next, minus ? 1 : 0);
      }
      return out;
    }
  }
  return {};
}

}  // namespace accel
