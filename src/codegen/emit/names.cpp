#include "codegen/emit/names.h"

#include <algorithm>

#include "codegen/emit/code.h"
#include "codegen/emit/expressions.h"

namespace accel {

namespace {

// Symbols of the text alone: quotients and remainders, variables of loops that the program does not have, and dims that a
// nest's functions are given.
constexpr int first_division = DimTable::first_variable * 2, first_own_variable = DimTable::first_variable * 3;
constexpr int first_given = 1 << 24;

}  // namespace

Dim Names::resolve(Dim d) {
  return copy_.dims.substitute(d, [&](int symbol) -> std::optional<Dim> {
    if (auto found = fixed_.find(symbol); found != fixed_.end()) return found->second;
    if (auto found = copy_.fixed.find(symbol); found != copy_.fixed.end()) return copy_.dims.constant(found->second);
    return std::nullopt;
  });
}

std::optional<int64_t> Names::stride_over(Dim offset, Dim variable) {
  return constant_value(step_over(copy_.dims, offset, variable));
}

// --- dims that the caller gives ---------------------------------------------------------------------------------------

// A symbol for a dim that the caller computes.
Dim Names::given(Dim d) {
  auto found = std::find(given_->dims.begin(), given_->dims.end(), d);
  int number = static_cast<int>(found - given_->dims.begin());
  if (found == given_->dims.end()) given_->dims.push_back(d);
  given_used_.insert(number);
  return copy_.dims.symbol(first_given + number);
}

// The dim with symbols for its largest parts without loop variables, which the caller computes.
Dim Names::with_given(Dim d) {
  DimTable& dims = copy_.dims;
  auto varies = [&](Dim part) {
    std::vector<int> symbols = dims.symbols(part);
    return !symbols.empty() && symbols.back() >= DimTable::first_variable;
  };
  if (dims.as_constant(d)) return d;
  if (!varies(d)) return given(d);
  DimKind kind = dims.kind(d);
  std::vector<Dim> operands = dims.operands(d);
  if (kind == DimKind::add || kind == DimKind::mul) {
    auto combine = [&](Dim a, Dim b) { return kind == DimKind::add ? dims.add(a, b) : dims.mul(a, b); };
    Dim fixed = dims.constant(kind == DimKind::add ? 0 : 1);
    for (Dim operand : operands)
      if (!varies(operand)) fixed = combine(fixed, operand);
    Dim out = with_given(fixed);
    for (Dim operand : operands)
      if (varies(operand)) out = combine(out, with_given(operand));
    return out;
  }
  if (operands.size() != 2) return d;  // a loop variable
  Dim a = with_given(operands[0]), b = with_given(operands[1]);
  return kind == DimKind::floordiv ? dims.floordiv(a, b)
         : kind == DimKind::mod    ? dims.mod(a, b)
         : kind == DimKind::min    ? dims.min(a, b)
                                   : dims.max(a, b);
}

// --- text of dims -----------------------------------------------------------------------------------------------------

int Names::own_variable() { return first_own_variable + own_variables_++; }

std::string Names::dim(Dim d) {
  Dim simple = ranges_.simplify(resolve(d));
  return printed(named_divisions(given_ != nullptr ? with_given(simple) : simple));
}

// Loop variables are x0, x1, ...: i8 and i16 are types.
std::string Names::printed(Dim d) {
  return cpp_dim(copy_.dims, d, [&](int symbol) {
    if (symbol >= first_given) return cat("d", symbol - first_given);
    if (symbol >= first_own_variable) return cat("y", symbol - first_own_variable);
    if (symbol >= first_division) return cat("q", symbol - first_division);
    if (symbol >= DimTable::first_variable) return cat("x", symbol - DimTable::first_variable);
    symbols_.insert(symbol);
    return cat("s", symbol);
  });
}

// g++ does not move a division out of a loop.
Dim Names::named_divisions(Dim d) {
  DimTable& dims = copy_.dims;
  if (!names_divisions_ || dims.as_constant(d) || dims.as_symbol(d)) return d;
  if (!is_division(dims, d)) return dims.with_operands(d, [&](Dim part) { return named_divisions(part); });
  std::vector<int> symbols = dims.symbols(d);
  Dim divisor = dims.operands(d)[1];
  bool constant = symbols.empty() || symbols.back() < DimTable::first_variable;
  if (!constant || dims.as_constant(divisor)) return dims.with_operands(d, [&](Dim part) { return named_divisions(part); });
  auto [found, is_new] = division_of_.try_emplace(d.id, static_cast<int>(divisions_.size()));
  if (is_new) divisions_.push_back(cat(printed(divisor), " == 0 ? 0 : ", printed(d)));
  return dims.symbol(first_division + found->second);
}

std::string Names::variable(Dim var) const { return cat("x", *copy_.dims.as_symbol(var) - DimTable::first_variable); }

// --- buffers ----------------------------------------------------------------------------------------------------------

std::string Names::buffer(BufferId id) {
  buffers_.insert(id);
  return cat("b", id);
}

std::string Names::bytes(BufferId id) { return cat(dim(buffer_info(id).elements), "*", item_size(buffer_info(id).dtype)); }

std::string Names::address(const Address& address) { return cat(buffer(address.buffer), " + ", dim(address.offset)); }

std::string Names::indexed_address(const Stmt& stmt, size_t first) {
  std::string text = address(stmt.address);
  for (size_t k = first; k < stmt.args.size(); ++k) {
    std::string index = temp_name(stmt.args[k]);
    if (!stmt.core_dims.empty()) index = cat("nearest_index(", index, ", ", dim(stmt.core_dims[k - first]), ")");
    text += cat(" + ", index, "*", dim(stmt.core_strides[k - first]));
  }
  return text;
}

}  // namespace accel
