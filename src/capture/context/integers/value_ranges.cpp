// What capture knows of numbers: values at this call, promotion to constants, relations between dims.

#include <algorithm>
#include <cmath>

#include "capture/context/context.h"
#include "capture/context/descent.h"
#include "capture/context/sources/function_objects.h"
#include "capture/domain/repr.h"
#include "ndarray/array.h"

namespace accel {

namespace {

constexpr uint8_t negative = Capture::sign_negative, zero = 2, positive = 4;

struct ComparisonInfo {
  uint8_t signs;  // signs of left - right for which it holds
  Comparison inverse;
  const char* text;
};

const ComparisonInfo& info(Comparison comparison) {
  static const ComparisonInfo table[] = {
      {zero, Comparison::ne, "=="},    {negative | positive, Comparison::eq, "!="},
      {negative, Comparison::ge, "<"}, {negative | zero, Comparison::gt, "<="},
      {positive, Comparison::le, ">"}, {positive | zero, Comparison::lt, ">="},
  };
  return table[static_cast<size_t>(comparison)];
}

uint8_t sign_of(int64_t value) { return value < 0 ? negative : value == 0 ? zero : positive; }

bool holds(int64_t left, Comparison comparison, int64_t right) {
  uint8_t sign = left < right ? negative : left == right ? zero : positive;
  return (info(comparison).signs & sign) != 0;
}

}  // namespace

int64_t Capture::hint(Dim d) const { return graph_.dims.evaluate(d, graph_.hints); }

Result<int64_t> Capture::require_int(const Ref& value) {
  look(value);
  if (value->kind == AbstractKind::scalar && value->scalar.dim && !is_runtime(*value->scalar.dim)) {
    int64_t now = hint(*value->scalar.dim);
    decide_equal(*value->scalar.dim, dims().constant(now));
    return now;
  }
  ACCEL_TRY(PyRef object, require_constant(value));
  PyRef index = PyRef::steal(PyIndex_Check(object.get()) ? PyNumber_Index(object.get()) : nullptr);
  long long result = index ? PyLong_AsLongLong(index.get()) : -1;
  if (!index || (result == -1 && PyErr_Occurred())) {
    PyErr_Clear();
    return fail(Reason::unsupported_argument, "an integer is needed, not " + short_repr(object.get()));
  }
  return static_cast<int64_t>(result);
}

// A number from a source becomes a constant; the guard asks for exactly this value.
Status Capture::promote(const Ref& value) {
  ScalarState& state = value->scalar;
  if (state.dim && is_runtime(*state.dim)) return fail(Reason::unsupported_argument, "the value is known at run time only");
  if (state.dim) {
    int64_t now = hint(*state.dim);
    decide_equal(*state.dim, dims().constant(now));
    if (value->source < 0) value->object = constant_number(state.kind, now);
  } else if (value->source < 0) {
    value->object = known_value(value);
    if (!value->object) {
      promote_inputs_of(value);
      return fail(Reason::unsupported_argument, "the value is known at run time only");
    }
  } else if (state.kind == ValueKind::py_scalar) {
    sources_.guard_equals(value->source, value->object.get());
  } else {
    plan_.promoted.insert(sources_.text(value->source));
    if (item_size(state.dtype) > 8) return fail(Reason::unsupported_argument, "a NumPy complex number is needed as a constant");
    throw Restart{};
  }
  value->kind = AbstractKind::constant;
  return Unit{};
}

PyRef Capture::constant_number(ValueKind kind, int64_t value) {
  if (kind == ValueKind::numpy_scalar) return PyRef::steal(new_numpy_scalar(DType::int64, &value));
  return PyRef::steal(PyLong_FromLongLong(value));
}

Result<PyRef> Capture::require_items(const Ref& value) {
  const Descent level;
  auto size = static_cast<Py_ssize_t>(value->items.size());
  PyRef out = PyRef::steal(value->kind == AbstractKind::list ? PyList_New(size) : PyTuple_New(size));
  for (Py_ssize_t i = 0; i < size; ++i) {
    ACCEL_TRY(PyRef item, require_constant(value->items[static_cast<size_t>(i)]));
    if (value->kind == AbstractKind::list) {
      PyList_SET_ITEM(out.get(), i, item.release());
    } else {
      PyTuple_SET_ITEM(out.get(), i, item.release());
    }
  }
  if (value->kind != AbstractKind::slice) return out;
  PyObject* parts = out.get();
  return PyRef::steal(PySlice_New(PyTuple_GET_ITEM(parts, 0), PyTuple_GET_ITEM(parts, 1), PyTuple_GET_ITEM(parts, 2)));
}

Result<PyRef> Capture::require_constant(const Ref& value) {
  look(value);
  switch (value->kind) {
    case AbstractKind::constant:
      if (PySet_Check(value->object.get())) return fail(Reason::unsupported_argument, "a set that may change");
      return value->object;
    case AbstractKind::scalar: {
      ACCEL_TRY([[maybe_unused]] Unit done, promote(value));
      return value->object;
    }
    case AbstractKind::tuple:
    case AbstractKind::slice:
      if (value->object) return value->object;
      [[fallthrough]];
    case AbstractKind::list:
      return require_items(value);
    case AbstractKind::set:
      if (value->object) return value->object;
      return fail(Reason::unsupported_argument, "a set of values that are not constant");
    case AbstractKind::object:
      if (!is_known_by_parts(*this, value)) return fail(Reason::unsupported_argument, "a constant is needed here");
      sources_.guard_identity(value->source, value->object.get());
      return value->object;
    default:
      return fail(Reason::unsupported_argument, "a constant is needed here");
  }
}

Capture::Range Capture::range_of(Dim d) const {
  const DimTable& table = graph_.dims;
  if (auto value = table.as_constant(d)) return {static_cast<double>(*value), static_cast<double>(*value)};
  if (auto symbol = table.as_symbol(d)) {
    Range known = symbol_ranges_[static_cast<size_t>(*symbol)];
    auto signs = signs_.find(d.id);
    if (signs != signs_.end() && signs->second == positive) known.low = std::max(known.low, 1.0);
    return known;
  }
  std::vector<Dim> parts = table.operands(d);
  Range out = range_of(parts[0]);
  for (size_t i = 1; i < parts.size(); ++i) {
    Range next = range_of(parts[i]);
    switch (table.kind(d)) {
      case DimKind::add:
        out = {out.low + next.low, out.high + next.high};
        break;
      case DimKind::mul: {
        double corners[] = {out.low * next.low, out.low * next.high, out.high * next.low, out.high * next.high};
        out = {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
        break;
      }
      case DimKind::min:
        out = {std::min(out.low, next.low), std::min(out.high, next.high)};
        break;
      case DimKind::max:
        out = {std::max(out.low, next.low), std::max(out.high, next.high)};
        break;
      case DimKind::floordiv: {
        if (next.low < 1) {
          double widest = std::max(std::fabs(out.low), std::fabs(out.high));
          out = {-widest, widest};
        } else {
          out = {std::min(std::floor(out.low / next.low), std::floor(out.low / next.high)),
                 std::max(std::floor(out.high / next.low), std::floor(out.high / next.high))};
        }
        break;
      }
      case DimKind::mod: {
        double widest = std::max(std::fabs(next.low), std::fabs(next.high));
        out = {next.low > 0 ? 0 : -widest, widest};
        if (next.low > 0) out.high = next.high - 1;
        break;
      }
      default:
        break;
    }
  }
  return out;
}

// Restricts every symbol of `d` to [-limit, limit] by guards. False when this call's values lie outside.
bool Capture::limit_symbols(Dim d, double limit) {
  std::vector<int> symbols = dims().symbols(d);
  std::erase_if(symbols, [&](int symbol) { return is_bound(symbol); });
  for (int symbol : symbols) {
    if (std::fabs(static_cast<double>(graph_.hints[static_cast<size_t>(symbol)])) > limit) return false;
  }
  for (int symbol : symbols) {
    Range& range = symbol_ranges_[static_cast<size_t>(symbol)];
    Dim own = dims().symbol(symbol), bound = dims().constant(static_cast<int64_t>(limit));
    if (range.high > limit) guard_relation(own, Comparison::le, bound);
    if (range.low < -limit) guard_relation(own, Comparison::ge, dims().sub(dims().constant(0), bound));
    range = {std::max(range.low, -limit), std::min(range.high, limit)};
  }
  return true;
}

bool Capture::fits_with_limits(Dim d) {
  constexpr double widest = 4611686018427387904.0;  // 2**62
  auto inside = [&](const Range& range) { return range.low >= -widest && range.high <= widest; };
  if (inside(range_of(d))) return true;
  for (int bits : {46, 31, 30, 20, 15}) {
    std::vector<Range> before = symbol_ranges_;
    for (int symbol : dims().symbols(d)) {
      if (is_bound(symbol)) continue;
      Range& range = symbol_ranges_[static_cast<size_t>(symbol)];
      double limit = std::ldexp(1.0, bits);
      range = {std::max(range.low, -limit), std::min(range.high, limit)};
    }
    bool enough = inside(range_of(d));
    symbol_ranges_ = std::move(before);
    if (enough) return limit_symbols(d, std::ldexp(1.0, bits));
  }
  return false;
}

// What is bound at run time has the range that the facts of this path give it, for now.
bool Capture::fits(Dim d) {
  constexpr int64_t longest = 500;  // numbers that grow in a loop double with each turn: guards and kernels would work them out
  if (dims().length(d) > longest) return false;
  if (fits_with_limits(d)) return true;
  std::vector<std::pair<size_t, Range>> before;
  for (int symbol : dims().symbols(d)) {
    if (!is_bound(symbol) || !is_within_limit(symbol)) continue;
    auto index = static_cast<size_t>(symbol);
    before.emplace_back(index, symbol_ranges_[index]);
    double limit = static_cast<double>(runtime_limit);
    symbol_ranges_[index] = {std::max(before.back().second.low, -limit), std::min(before.back().second.high, limit)};
  }
  bool enough = !before.empty() && fits_with_limits(d);
  for (const auto& [index, range] : before) symbol_ranges_[index] = range;
  return enough;
}

void Capture::guard_relation(Dim left, Comparison comparison, Dim right) {
  Guard guard;
  guard.kind = GuardKind::relation;
  guard.relation = {left, comparison, right};
  guard.text = relation_text({left, right, comparison});
  guards_.guards.push_back(std::move(guard));
}

int64_t Capture::decided_by_guards() const {
  return std::count_if(guards_.guards.begin(), guards_.guards.end(),
                       [](const Guard& guard) { return guard.kind == GuardKind::relation || guard.kind == GuardKind::equals; });
}

std::string Capture::relation_text(const Relation& relation) const {
  auto names = [&](Dim d) {
    if (auto symbol = graph_.dims.as_symbol(d)) return graph_.symbols[static_cast<size_t>(*symbol)];
    return graph_.dims.text(d);
  };
  return names(relation.left) + " " + info(relation.comparison).text + " " + names(relation.right);
}

uint8_t Capture::signs_of(Dim difference) const {
  auto known = signs_.find(difference.id);
  uint8_t signs = known == signs_.end() ? negative | zero | positive : known->second;
  Range range = range_of(difference);
  if (range.low > 0) return positive;
  if (range.low >= 0) signs &= zero | positive;
  if (range.high < 0) return negative;
  if (range.high <= 0) signs &= negative | zero;
  return signs;
}

bool Capture::is_far_apart(Dim left, Dim right) const { return is_far(graph_.dims, left) || is_far(graph_.dims, right); }

std::optional<bool> Capture::told_by_ranges(Dim left, Comparison comparison, Dim right) const {
  auto l = graph_.dims.as_constant(left), r = graph_.dims.as_constant(right);
  if (l && r) return holds(*l, comparison, *r);
  Range one = range_of(left), other = range_of(right);
  if (one.high < other.low) return (info(comparison).signs & negative) != 0;
  if (one.low > other.high) return (info(comparison).signs & positive) != 0;
  return std::nullopt;
}

bool Capture::decide_far(Dim left, Comparison comparison, Dim right) {
  if (auto told = told_by_ranges(left, comparison, right)) return *told;
  bool result = holds(hint(left), comparison, hint(right));
  Relation relation{left, right, result ? comparison : info(comparison).inverse};
  if (is_runtime(left) || is_runtime(right)) {
    require_relation(relation);
  } else {
    guard_relation(left, relation.comparison, right);
  }
  return result;
}

bool Capture::decide(Dim left, Comparison comparison, Dim right) {
  if (is_far_apart(left, right)) return decide_far(left, comparison, right);
  Dim difference = dims().sub(left, right);
  if (auto value = dims().as_constant(difference)) return (info(comparison).signs & sign_of(*value)) != 0;
  if (is_runtime(difference)) return decide_runtime(left, comparison, right);
  uint8_t possible = signs_of(difference);
  uint8_t wanted = info(comparison).signs;
  if ((possible & wanted) == possible) return true;
  if ((possible & wanted) == 0) return false;
  // What a branch of this path has said of sizes needs no guard.
  if (auto told = told_by_facts(left, comparison, right)) return *told;
  bool result = holds(hint(left), comparison, hint(right));
  // With the other signs ruled out, a weaker-looking comparison says the same and is as cheap to check.
  guard_relation(left, result ? comparison : info(comparison).inverse, right);
  uint8_t now = possible & (result ? wanted : static_cast<uint8_t>(~wanted));
  signs_[difference.id] = now;
  Dim opposite = dims().sub(right, left);
  signs_[opposite.id] =
      static_cast<uint8_t>((now & zero) | ((now & negative) ? positive : 0) | ((now & positive) ? negative : 0));
  if (now == zero) substitute_if_possible(left, right);
  return result;
}

// Equal dims should be one Dim: the next attempt starts with the higher symbol replaced.
void Capture::substitute_if_possible(Dim left, Dim right) {
  if (!substitute(left, right) && !substitute(right, left)) return;
  throw Restart{};
}

Plan::Substitution Capture::substitution_of(int symbol, Dim by) {
  auto named = [&](int number) { return std::pair(number, graph_.symbols[static_cast<size_t>(number)]); };
  Plan::Substitution out{dims().text(by), {named(symbol)}};
  for (int other : dims().symbols(by)) out.names.push_back(named(other));
  return out;
}

bool Capture::substitute(Dim symbol, Dim by) {
  auto index = dims().as_symbol(symbol);
  if (!index || plan_.substitutions.count(*index) != 0) return false;
  for (int other : dims().symbols(by)) {
    if (other >= *index) return false;
  }
  plan_.substitutions[*index] = substitution_of(*index, by);
  return true;
}

void Capture::promote_inputs_of(const Ref& scalar) {
  if (scalar->kind != AbstractKind::scalar) return;
  std::vector<ValueId> open = {scalar->scalar.value};
  std::set<ValueId> seen;
  std::set<std::string> promoted;
  std::map<int, Plan::Substitution> fixed;
  while (!open.empty()) {
    ValueId value = open.back();
    open.pop_back();
    if (value == no_value || !seen.insert(value).second) continue;
    if (graph_.is_input(value)) {
      auto input = scalar_inputs_.find(value);
      if (input == scalar_inputs_.end()) return;  // an array: data
      promoted.insert(sources_.text(input->second));
      continue;
    }
    const Node& node = graph_.producer(value);
    if (op_class(node.op) == OpClass::boxed) return;
    for (Dim d : node.attrs.dims) {
      if (is_runtime(d)) return;
      for (int symbol : dims().symbols(d))
        fixed[symbol] = substitution_of(symbol, dims().constant(graph_.hints[static_cast<size_t>(symbol)]));
    }
    open.insert(open.end(), node.operands.begin(), node.operands.end());
  }
  size_t before = plan_.promoted.size() + plan_.substitutions.size();
  plan_.promoted.insert(promoted.begin(), promoted.end());
  plan_.substitutions.insert(fixed.begin(), fixed.end());
  if (plan_.promoted.size() + plan_.substitutions.size() == before) return;
  throw Restart{};
}

}  // namespace accel
