#include "ir/analysis/integers.h"

#include <algorithm>
#include <numeric>

#include "ir/analysis/loops.h"

namespace accel {

namespace {

constexpr Linear::Key first_expression = Linear::Key{1} << 40;  // values below, symbols below 0
constexpr int64_t surely_fits = int64_t{1} << 60;
// A number that starts near zero and moves by one step each time is less than twice as far away after 2^55 of them, which take
// a year; so many factors of it fit.
constexpr int64_t near_zero = int64_t{1} << 58, longest_step = 8, most_factors = 4;
constexpr int64_t most_divisor = 1 << 11;
constexpr int deepest_proof = 6, most_steps = 1000, most_proofs = 4000;
constexpr size_t most_terms = 3;  // of what is worth asking for

Linear::Key key_of_symbol(int symbol) { return -1 - Linear::Key{symbol}; }

bool is_integer(DType dtype) { return is_integer_dtype(dtype) && dtype != DType::uint64; }

// Whether no number changes by a cast to a wider dtype.
bool preserves_number(DType from, DType to) {
  bool preserves_sign = dtype_kind(to) == 'i' || dtype_kind(from) == 'u';
  return is_integer(from) && is_integer(to) && item_size(from) < item_size(to) && preserves_sign;
}

}  // namespace

Integers::Integers(const Graph& graph)
    : graph_(graph),
      dims_(graph.dims),
      dominance_(graph),
      bindings_(bound_symbols(graph)),
      parents_(graph.blocks.size(), -1),
      facts_(graph.blocks.size()),
      assumed_(graph.blocks.size()) {
  for (size_t k = 0; k < graph.inputs.size(); ++k) {
    const Type& type = graph.type(graph.entry().params[k]);
    // What is repeated or has no elements may be longer than memory.
    bool has_memory = type.rank() == 1 && graph.inputs[k].layout == Layout::dense;
    for (Dim d : type.shape)
      if (auto symbol = dims_.as_symbol(d)) note_length(key_of_symbol(*symbol), has_memory);
  }
  for (Dim d : graph.known) always_.push_back(sum_of(d));
  std::vector<std::vector<BlockId>> before = predecessors(graph);
  for (BlockId b = 1; b < static_cast<BlockId>(graph.blocks.size()); ++b) {
    BlockId parent = immediate_dominator(graph, dominance_, b);
    // Unreachable blocks dominate each other.
    if (!dominance_.dominates(b, parent)) parents_[static_cast<size_t>(b)] = parent;
    if (before[static_cast<size_t>(b)].size() != 1) continue;
    const Terminator& t = graph.blocks[static_cast<size_t>(before[static_cast<size_t>(b)][0])].terminator;
    if (t.kind == TerminatorKind::branch) facts_[static_cast<size_t>(b)] = implied_by(t.operands[0], t.targets[0] == b);
  }
  find_counts(before);
  find_first_values(before);
}

void Integers::note_length(Linear::Key key, bool has_memory) {
  Range& range = ranges_[key];
  range.low = 0;
  if (has_memory) range.high = most_elements;
}

// Optimistic: all int parameters are taken to be counts, and those are dropped to which an edge gives anything but a step or a
// number near zero.
void Integers::find_counts(const std::vector<std::vector<BlockId>>& before) {
  for (const Block& block : graph_.blocks)
    for (ValueId param : block.params)
      if (graph_.input_index(param) < 0 && graph_.type(param).kind == ValueKind::py_scalar &&
          graph_.type(param).dtype == DType::int64)
        counts_.insert(param);
  auto drop_others = [&](std::set<ValueId>& params, auto may_be_given) {
    while (std::erase_if(params, [&](ValueId param) { return !is_only_given(param, before, may_be_given); }) > 0) {
    }
  };
  drop_others(counts_, [&](const Linear& given) { return is_step(given) || is_near_zero(given); });
  std::set<ValueId> rising = counts_;
  drop_others(rising, [&](const Linear& given) {
    bool rises = is_step(given) && given.constant() >= 0 && rising.contains(param_of(given.terms()[0].key));
    return rises || lowest(given).value_or(-1) >= 0;
  });
  for (ValueId param : rising) ranges_[linear(param).terms()[0].key].low = 0;
}

// What the edges to a parameter's block give it.
std::vector<Linear> Integers::given_to(ValueId param, const std::vector<std::vector<BlockId>>& before) {
  const BlockId home = graph_.values[static_cast<size_t>(param)].block;
  const std::vector<ValueId>& params = graph_.blocks[static_cast<size_t>(home)].params;
  const size_t position = static_cast<size_t>(std::find(params.begin(), params.end(), param) - params.begin());
  std::vector<Linear> out;
  for (BlockId from : before[static_cast<size_t>(home)]) {
    const Terminator& t = graph_.blocks[static_cast<size_t>(from)].terminator;
    for (int edge = 0; edge < target_count(t); ++edge)
      if (t.targets[edge] == home) out.push_back(linear(t.target_arguments[edge][position]));
  }
  return out;
}

bool Integers::is_only_given(ValueId param, const std::vector<std::vector<BlockId>>& before,
                             const std::function<bool(const Linear&)>& may_be_given) {
  const std::vector<Linear> given = given_to(param, before);
  return std::all_of(given.begin(), given.end(), may_be_given);
}

// Counters of loops do not pass the number with which they start.
void Integers::find_first_values(const std::vector<std::vector<BlockId>>& before) {
  for (size_t b = 1; b < graph_.blocks.size(); ++b) {
    for (ValueId param : graph_.blocks[b].params) {
      const Type& type = graph_.type(param);
      if (type.rank() > 0 || type.kind != ValueKind::py_scalar || type.dtype != DType::int64) continue;
      std::optional<Linear> distance = distance_from_start(param, before);
      if (distance && lowest(*distance).value_or(-1) < 0) facts_[b].push_back(*distance);
    }
  }
}

// param - start, or start - param where the number falls, for a number that starts with one value and is changed by constants
// of one sign.
std::optional<Linear> Integers::distance_from_start(ValueId param, const std::vector<std::vector<BlockId>>& before) {
  const BlockId home = graph_.values[static_cast<size_t>(param)].block;
  const Linear own = linear(param);
  std::optional<Linear> start;
  bool rises = false, falls = false;
  for (const Linear& given : given_to(param, before)) {
    const std::optional<Linear> change = given.plus(own, -1);
    if (change && change->is_constant()) {
      (change->constant() >= 0 ? rises : falls) = true;
    } else if (!start || *start == given) {
      start = given;
    } else {
      return std::nullopt;
    }
  }
  if (!start || rises == falls) return std::nullopt;
  const bool is_known = std::all_of(start->terms().begin(), start->terms().end(),
                                    [&](const Linear::Term& term) { return is_known_before(term.key, home); });
  if (!is_known) return std::nullopt;
  return rises ? own.plus(*start, -1) : start->plus(own, -1);
}

bool Integers::is_step(const Linear& sum) const {
  const std::vector<Linear::Term>& terms = sum.terms();
  return terms.size() == 1 && terms[0].factor == 1 && counts_.contains(param_of(terms[0].key)) &&
         std::abs(sum.constant()) <= longest_step;
}

bool Integers::is_near_zero(const Linear& sum) const {
  std::optional<Linear> negative = sum.times(-1);
  return lowest(sum).value_or(-near_zero - 1) >= -near_zero && negative &&
         lowest(*negative).value_or(-near_zero - 1) >= -near_zero;
}

// Whether a sum is far from where int64 ends for what it has of counts.
bool Integers::is_counted(const Linear& sum) const {
  Linear rest(sum.constant());
  int64_t factors = 0;
  for (const Linear::Term& term : sum.terms()) {
    std::optional<Linear> more = rest.plus(Linear::of(term.key, term.factor));
    if (std::abs(term.factor) <= most_factors && counts_.contains(param_of(term.key)))
      factors += std::abs(term.factor);
    else if (more)
      rest = *more;
    else
      return false;
  }
  return factors > 0 && factors <= most_factors && is_near_zero(rest);
}

// --- values as sums ------------------------------------------------------------------------------------------------------

const Linear& Integers::linear(ValueId v) {
  auto found = sums_.find(v);
  if (found == sums_.end()) found = sums_.emplace(v, sum_of(v)).first;
  return found->second;
}

Linear Integers::sum_of(ValueId v) {
  if (graph_.is_input(v) || graph_.type(v).rank() > 0) return of_own(v);
  const Node& node = graph_.producer(v);
  if (node.op == Op::dim || node.op == Op::bind) return sum_of(node.attrs.dims[0]);
  if (graph_.type(v).dtype == DType::int64) {
    bool exact = graph_.type(v).kind == ValueKind::py_scalar || node.op == Op::constant || node.op == Op::astype;
    std::optional<Linear> sum = exact ? arithmetic(node) : std::nullopt;
    if (sum) return *sum;
  }
  return of_own(v);
}

std::optional<Linear> Integers::arithmetic(const Node& node) {
  auto operand = [&](size_t k) -> const Linear& { return linear(node.operands[k]); };
  switch (node.op) {
    case Op::constant:
      return Linear().plus(Linear(node.attrs.literal.as_int()));
    case Op::astype:
      if (graph_.type(node.operands[0]).dtype != DType::int64) return std::nullopt;
      return operand(0);
    case Op::add:
      return operand(0).plus(operand(1));
    case Op::subtract:
      return operand(0).plus(operand(1), -1);
    case Op::negative:
      return operand(0).times(-1);
    case Op::multiply:
      if (operand(0).is_constant()) return operand(1).times(operand(0).constant());
      if (operand(1).is_constant()) return operand(0).times(operand(1).constant());
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

// A number as a term of its own, with the range that its dtype and its operation imply.
Linear Integers::of_own(ValueId v) {
  Linear own = Linear::of(v);
  const Type& type = graph_.type(v);
  if (type.rank() > 0 || !is_integer(type.dtype)) return own;
  ranges_[v] = range_of(type.dtype);
  if (graph_.is_input(v)) return own;
  const Node& node = graph_.producer(v);
  for (ValueId operand : node.operands)
    if (graph_.type(operand).rank() > 0) return own;
  if (node.op == Op::astype && preserves_number(graph_.type(node.operands[0]).dtype, type.dtype))
    return linear(node.operands[0]);
  if (node.operands.size() == 2) note_operation(v, node);
  return own;
}

Integers::Range Integers::range_of(DType dtype) {
  int bits = item_size(dtype) * 8;
  if (bits == 64) return {};
  bool has_sign = dtype_kind(dtype) == 'i';
  return {has_sign ? -(int64_t{1} << (bits - 1)) : 0, (int64_t{1} << (has_sign ? bits - 1 : bits)) - 1};
}

void Integers::note_operation(ValueId v, const Node& node) {
  const Linear own = Linear::of(v), first = linear(node.operands[0]), second = linear(node.operands[1]);
  if (node.op == Op::minimum || node.op == Op::maximum) add_extreme(v, {node.op == Op::minimum, {first, second}});
  if (!second.is_constant() || second.constant() <= 0) return;
  int64_t by = second.constant();
  if (node.op == Op::bitwise_and) ranges_[v] = {0, by};
  if (node.op == Op::remainder) ranges_[v] = {0, by - 1};
  if (node.op == Op::floor_divide) add_quotient(first, own, by);
  if (node.op == Op::right_shift && by < 63) add_quotient(first, own, int64_t{1} << by);
}

void Integers::add_quotient(const Linear& dividend, const Linear& quotient, int64_t divisor) {
  if (divisor > most_divisor) return;
  std::optional<Linear> rest = dividend.plus(quotient, -divisor);
  std::optional<Linear> room = rest ? Linear(divisor - 1).plus(*rest, -1) : std::nullopt;
  if (!room) return;
  always_.push_back(*rest);
  always_.push_back(*room);
}

void Integers::add_extreme(Linear::Key key, Extreme extreme) {
  for (const Linear& each : extreme.of) {
    std::optional<Linear> distance = each.plus(Linear::of(key), -1);
    if (distance && !extreme.is_lowest) distance = distance->times(-1);
    if (distance) always_.push_back(*distance);
  }
  extremes_.emplace(key, std::move(extreme));
}

Linear Integers::sum_of(Dim d) {
  if (auto symbol = dims_.as_symbol(d)) {
    auto bound = bindings_.find(*symbol);
    if (bound == bindings_.end()) return Linear::of(key_of_symbol(*symbol));
    return linear(graph_.nodes[static_cast<size_t>(bound->second.node)].operands[0]);
  }
  std::optional<Linear> sum;
  if (auto constant = dims_.as_constant(d)) {
    sum = Linear().plus(Linear(*constant));
  } else if (dims_.kind(d) == DimKind::add) {
    sum = Linear();
    for (Dim part : dims_.operands(d))
      if (sum) sum = sum->plus(sum_of(part));
  } else if (dims_.kind(d) == DimKind::mul) {
    int64_t factor = 1;
    std::vector<Dim> others;
    for (Dim part : dims_.operands(d)) {
      if (auto constant = dims_.as_constant(part))
        factor = *constant;
      else
        others.push_back(part);
    }
    if (others.size() < dims_.operands(d).size()) sum = sum_of(dims_.product(others)).times(factor);
  }
  return sum ? *sum : of_expression(d);
}

Linear Integers::of_expression(Dim d) {
  Linear::Key key = first_expression + d.id;
  Linear own = Linear::of(key);
  if (ranges_.contains(key) || extremes_.contains(key)) return own;
  ranges_[key] = {};
  DimKind kind = dims_.kind(d);
  if (kind == DimKind::constant) return own;
  std::vector<Linear> parts;
  for (Dim part : dims_.operands(d)) parts.push_back(sum_of(part));
  const bool is_nonnegative = std::all_of(parts.begin(), parts.end(), [&](const Linear& each) { return lowest(each) >= 0; });
  if (is_nonnegative) ranges_[key].low = 0;
  if (kind == DimKind::mul) return own;
  if (kind == DimKind::min || kind == DimKind::max) add_extreme(key, {kind == DimKind::min, parts});
  if (parts.size() != 2 || !parts[1].is_constant() || parts[1].constant() <= 0) return own;
  if (kind == DimKind::mod) ranges_[key] = {0, parts[1].constant() - 1};
  if (kind == DimKind::floordiv) add_quotient(parts[0], own, parts[1].constant());
  return own;
}

// --- conditions ----------------------------------------------------------------------------------------------------------

std::vector<Linear> Integers::implied_by(ValueId condition, bool holds) {
  std::vector<Linear> out;
  collect(condition, holds, false, out);
  return out;
}

std::optional<std::vector<Linear>> Integers::needed_for(ValueId condition, bool holds) {
  std::vector<Linear> out;
  return collect(condition, holds, true, out) ? std::optional(std::move(out)) : std::nullopt;
}

// Whether `out` is all that there is to it.
bool Integers::collect(ValueId condition, bool holds, bool is_goal, std::vector<Linear>& out) {
  if (graph_.is_input(condition) || graph_.type(condition).rank() > 0) return false;
  const Node& node = graph_.producer(condition);
  switch (node.op) {
    case Op::logical_not:
      return collect(node.operands[0], !holds, is_goal, out);
    case Op::logical_and:
    case Op::logical_or: {
      if (holds != (node.op == Op::logical_and)) return false;
      bool first = collect(node.operands[0], holds, is_goal, out);
      return collect(node.operands[1], holds, is_goal, out) && first;
    }
    case Op::add_overflows:
    case Op::subtract_overflows:
    case Op::multiply_overflows:
      return is_goal && !holds && collect_fitting(node, out);
    default:
      return collect_relation(node, holds, out);
  }
}

bool Integers::collect_relation(const Node& node, bool holds, std::vector<Linear>& out) {
  if (node.operands.size() != 2) return false;
  for (ValueId v : node.operands)
    if (graph_.type(v).rank() > 0 || !is_integer(graph_.type(v).dtype)) return false;
  std::optional<Linear> up = linear(node.operands[1]).plus(linear(node.operands[0]), -1);
  std::optional<Linear> down = up ? up->times(-1) : std::nullopt;
  if (!down) return false;
  auto add = [&](const Linear& sum, int64_t more) {
    std::optional<Linear> found = sum.plus(Linear(more));
    if (found) out.push_back(*found);
    return found.has_value();
  };
  switch (node.op) {
    case Op::less:
      return holds ? add(*up, -1) : add(*down, 0);
    case Op::less_equal:
      return holds ? add(*up, 0) : add(*down, -1);
    case Op::greater:
      return holds ? add(*down, -1) : add(*up, 0);
    case Op::greater_equal:
      return holds ? add(*down, 0) : add(*up, -1);
    case Op::equal:
    case Op::not_equal:
      return holds == (node.op == Op::equal) && add(*up, 0) && add(*down, 0);
    default:
      return false;
  }
}

// That the result of an operation is far from where int64 ends.
bool Integers::collect_fitting(const Node& node, std::vector<Linear>& out) {
  const Linear &first = linear(node.operands[0]), &second = linear(node.operands[1]);
  if (graph_.type(node.operands[0]).dtype != DType::int64 || graph_.type(node.operands[0]).rank() > 0) return false;
  std::optional<Linear> result;
  if (node.op == Op::multiply_overflows) {
    if (second.is_constant()) result = first.times(second.constant());
  } else {
    result = first.plus(second, node.op == Op::add_overflows ? 1 : -1);
  }
  if (result && is_counted(*result)) return true;
  std::optional<Linear> above = result ? Linear(surely_fits).plus(*result, -1) : std::nullopt;
  std::optional<Linear> below = result ? Linear(surely_fits).plus(*result) : std::nullopt;
  if (!above || !below) return false;
  out.push_back(*above);
  out.push_back(*below);
  return true;
}

// --- facts at a position ---------------------------------------------------------------------------------------------------

ValueId Integers::param_of(Linear::Key key) const {
  if (key < 0 || key >= first_expression) return no_value;
  ValueId v = static_cast<ValueId>(key);
  return graph_.is_input(v) && graph_.values[static_cast<size_t>(v)].block > 0 ? v : no_value;
}

bool Integers::is_known_before(Linear::Key key, BlockId block) const {
  auto before = [&](BlockId home) { return home != block && dominance_.dominates(home, block); };
  if (key < 0) return true;
  if (key < first_expression) {
    ValueId v = static_cast<ValueId>(key);
    return graph_.input_index(v) >= 0 || before(graph_.values[static_cast<size_t>(v)].block);
  }
  std::vector<int> symbols = dims_.symbols(Dim{static_cast<int32_t>(key - first_expression)});
  return std::all_of(symbols.begin(), symbols.end(), [&](int symbol) {
    auto bound = bindings_.find(symbol);
    return bound == bindings_.end() || before(bound->second.block);
  });
}

std::vector<Linear> Integers::facts_at(BlockId block, int edge) {
  std::vector<Linear> out;
  if (edge >= 0) {
    const Terminator& t = graph_.blocks[static_cast<size_t>(block)].terminator;
    if (t.kind == TerminatorKind::branch && t.targets[0] != t.targets[1]) out = implied_by(t.operands[0], edge == 0);
  }
  for (BlockId b = block; b >= 0; b = parents_[static_cast<size_t>(b)]) {
    const std::vector<Linear>& facts = facts_[static_cast<size_t>(b)];
    const std::set<Linear>& assumed = assumed_[static_cast<size_t>(b)];
    out.insert(out.end(), assumed.begin(), assumed.end());
    out.insert(out.end(), facts.begin(), facts.end());
  }
  out.insert(out.end(), always_.begin(), always_.end());
  return out;
}

// --- proofs --------------------------------------------------------------------------------------------------------------

bool Integers::is_bounded(const Linear::Term& term) const {
  auto range = ranges_.find(term.key);
  return range != ranges_.end() && (term.factor > 0 ? range->second.low : range->second.high).has_value();
}

std::optional<int64_t> Integers::lowest(const Linear& sum) const {
  int64_t out = sum.constant();
  for (const Linear::Term& term : sum.terms()) {
    if (!is_bounded(term)) return std::nullopt;
    const Range& range = ranges_.at(term.key);
    int64_t least = 0;
    if (__builtin_mul_overflow(term.factor, term.factor > 0 ? *range.low : *range.high, &least)) return std::nullopt;
    if (__builtin_add_overflow(out, least, &out)) return std::nullopt;
  }
  return out;
}

bool Integers::prove(const Linear& sum, BlockId block, int edge, std::set<Linear>* open) {
  if (++proofs_ > most_proofs) return false;
  const std::vector<Linear> facts = facts_at(block, edge);
  for (int depth = 1; depth <= deepest_proof; ++depth) {
    steps_ = most_steps;
    if (prove(sum, facts, depth, open)) return true;
  }
  return false;
}

// Numbers are eliminated one after the other, by facts that bound them on the side that matters.
bool Integers::prove(const Linear& goal, const std::vector<Linear>& facts, int depth, std::set<Linear>* open) {
  if (--steps_ < 0) return false;
  Linear sum = goal.reduced();
  if (lowest(sum).value_or(-1) >= 0) return true;
  if (depth == 0 || sum.is_constant()) return false;
  if (open && sum.terms().size() <= most_terms) open->insert(sum);
  // A term without a bound has to be eliminated by a fact. If there are several, any one will do.
  for (const Linear::Term& term : sum.terms())
    if (!is_bounded(term)) return prove_without(sum, term, facts, depth, open);
  return std::any_of(sum.terms().begin(), sum.terms().end(),
                     [&](const Linear::Term& term) { return prove_without(sum, term, facts, depth, open); });
}

bool Integers::prove_without(const Linear& goal, const Linear::Term& term, const std::vector<Linear>& facts, int depth,
                             std::set<Linear>* open) {
  for (const Linear& fact : facts) {
    int64_t factor = fact.factor(term.key);
    if (factor == 0 || (factor > 0) != (term.factor > 0)) continue;
    // For integers a goal times m is >= 0 if it is with m - 1 more.
    int64_t common = std::gcd(factor, term.factor), m = std::abs(factor) / common, times = std::abs(term.factor) / common;
    std::optional<Linear> rest = goal.times(m);
    if (rest) rest = rest->plus(Linear(m - 1));
    if (rest) rest = rest->plus(fact, -times);
    if (rest && prove(*rest, facts, depth - 1, open)) return true;
  }
  auto extreme = extremes_.find(term.key);
  if (extreme == extremes_.end() || extreme->second.is_lowest != (term.factor > 0)) return false;
  return std::all_of(extreme->second.of.begin(), extreme->second.of.end(), [&](const Linear& each) {
    std::optional<Linear> rest = goal.substituted(term.key, each);
    return rest && prove(*rest, facts, depth - 1, open);
  });
}

}  // namespace accel
