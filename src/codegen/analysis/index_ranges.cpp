#include "codegen/analysis/index_ranges.h"

#include <algorithm>
#include <vector>

namespace accel {

Dim step_over(DimTable& dims, Dim offset, Dim variable) {
  Dim next = dims.add(variable, dims.constant(1));
  return dims.sub(dims.substitute(offset, *dims.as_symbol(variable), next), offset);
}

// Whether d is not negative and does not become smaller when a variable grows.
bool IndexRanges::grows(Dim d) {
  if (auto value = dims_.as_constant(d)) return *value >= 0;
  if (auto symbol = dims_.as_symbol(d)) return extents_.contains(*symbol) || is_positive(*symbol);
  std::vector<Dim> operands = dims_.operands(d);
  auto all = [&] { return std::all_of(operands.begin(), operands.end(), [&](Dim part) { return grows(part); }); };
  if (dims_.kind(d) == DimKind::add || dims_.kind(d) == DimKind::mul) return all();
  return dims_.kind(d) == DimKind::floordiv && dims_.as_constant(operands[1]) > 0 && grows(operands[0]);
}

// Whether the body of a loop runs only if the symbol is positive: its extent is a multiple of the symbol.
bool IndexRanges::is_positive(int symbol) const {
  return std::any_of(extents_.begin(), extents_.end(), [&](const auto& entry) {
    Dim extent = entry.second;
    if (dims_.kind(extent) == DimKind::mul) {
      auto factors = dims_.operands(extent);
      bool scaled = factors.size() == 2 && dims_.as_constant(factors[0]) > 0;
      return scaled && dims_.as_symbol(factors[1]) == symbol;
    }
    return dims_.as_symbol(extent) == symbol;
  });
}

std::optional<Dim> IndexRanges::largest(Dim d) {
  if (!grows(d)) return std::nullopt;
  return dims_.substitute(d, [&](int symbol) -> std::optional<Dim> {
    auto found = extents_.find(symbol);
    if (found == extents_.end()) return std::nullopt;
    return dims_.sub(found->second, dims_.constant(1));
  });
}

std::optional<IndexRanges::Division> IndexRanges::divide(Dim a, Dim by) {
  Dim remainder = dims_.remainder(a, by), rest = remainder;
  if (dims_.kind(remainder) == DimKind::mod) {
    if (dims_.operands(remainder)[1] != by) return std::nullopt;
    rest = dims_.operands(remainder)[0];
  } else if (!dims_.is_constant(remainder, 0)) {
    return std::nullopt;
  }
  auto most = largest(rest);
  if (!most || !grows(dims_.sub(dims_.sub(by, dims_.constant(1)), *most))) return std::nullopt;
  Dim quotient = dims_.quotient(a, by);
  return Division{dims_.is_constant(rest, 0) ? quotient : dims_.sub(quotient, dims_.floordiv(rest, by)), rest};
}

// a // b or a % b, where b is a factor that divides a so that the loops decide the rest, times others.
std::optional<Dim> IndexRanges::decided(Dim a, Dim b, bool quotient) {
  if (auto parts = divide(a, b)) return quotient ? parts->whole : parts->rest;
  if (dims_.kind(b) != DimKind::mul) return std::nullopt;
  std::vector<Dim> factors = dims_.operands(b);
  for (size_t k = 0; k < factors.size(); ++k) {
    Dim factor = factors[k], others = dims_.constant(1);
    for (size_t j = 0; j < factors.size(); ++j)
      if (j != k) others = dims_.mul(others, factors[j]);
    if (dims_.as_constant(factor)) std::swap(factor, others);
    auto parts = divide(a, factor);
    if (!parts) continue;
    if (quotient) return simplify(dims_.floordiv(parts->whole, others));
    return dims_.add(dims_.mul(simplify(dims_.mod(parts->whole, others)), factor), parts->rest);
  }
  return std::nullopt;
}

Dim IndexRanges::simplify(Dim d) {
  if (extents_.empty() || dims_.as_constant(d) || dims_.as_symbol(d)) return d;
  Dim out = dims_.with_operands(d, [&](Dim part) { return simplify(part); });
  if (!is_division(dims_, out)) return out;
  std::vector<Dim> operands = dims_.operands(out);
  return decided(operands[0], operands[1], dims_.kind(out) == DimKind::floordiv).value_or(out);
}

}  // namespace accel
