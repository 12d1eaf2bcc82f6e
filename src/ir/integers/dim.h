#pragma once
// Symbolic integer expressions for dims, strides, offsets and loop indices.
//
// A DimTable owns hash-consed expressions; a Dim is a handle into one table. Sums and products have a polynomial normal form,
// so two Dims that are equal as polynomials are the same handle. Symbols are numbered by their owner: in a Graph, symbol k is
// slot k of the entry's symbol array (an input dim, stride or integer). Loop variables of a Program are symbols too, from
// `first_variable` on; new_variable() makes them.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace accel {

struct Dim {
  int32_t id = -1;
  bool operator==(const Dim&) const = default;
};

enum class DimKind : uint8_t { constant, symbol, add, mul, floordiv, mod, min, max };

class DimTable {
 public:
  static constexpr int first_variable = 1 << 20;
  static bool is_variable(int symbol) { return symbol >= first_variable; }

  DimTable();
  DimTable(const DimTable&);
  DimTable& operator=(const DimTable&);
  DimTable(DimTable&&) noexcept;
  DimTable& operator=(DimTable&&) noexcept;
  ~DimTable();

  Dim constant(int64_t value);
  Dim symbol(int index);
  Dim new_variable();  // its number is above those of all variables that the table has had so far
  Dim add(Dim a, Dim b);
  Dim sub(Dim a, Dim b);
  Dim mul(Dim a, Dim b);
  Dim mul(Dim a, int64_t b) { return mul(a, constant(b)); }
  Dim floordiv(Dim a, Dim b);  // Python's //
  Dim mod(Dim a, Dim b);       // Python's %
  // floordiv and mod where b is not 0: what it divides is taken out.
  Dim quotient(Dim a, Dim b);
  Dim remainder(Dim a, Dim b);
  Dim min(Dim a, Dim b);
  Dim max(Dim a, Dim b);
  Dim product(std::span<const Dim> dims);
  Dim sum(std::span<const Dim> dims);

  DimKind kind(Dim d) const;
  std::optional<int64_t> as_constant(Dim d) const;
  bool is_constant(Dim d, int64_t value) const { return as_constant(d) == value; }
  std::optional<int> as_symbol(Dim d) const;  // symbol index when d is a bare symbol
  std::vector<Dim> operands(Dim d) const;     // of add, mul, floordiv, mod, min, max
  int64_t length(Dim d) const;                // constants, symbols and operations, as often as they stand in it; at most 2**40
  double weight(Dim d) const;                 // the magnitudes of all coefficients, as a sum of products, added up
  std::vector<int> symbols(Dim d) const;      // sorted, without repeats
  bool names(Dim d, int symbol) const;        // whether the symbol is one of them
  bool has_variables(Dim d) const;            // whether a variable is one of them

  // The c of d = c * symbol + rest, where neither c nor rest names the symbol; nullopt when d has no such form:
  // operands of floor division, %, min and max are never linear.
  std::optional<Dim> slope(Dim d, int symbol);

  // Value of d with symbol k := symbols[k]. Wraps like int64.
  int64_t evaluate(Dim d, std::span<const int64_t> symbols) const;
  // Value of d as by evaluate(); nullopt when d names a symbol beyond the end of `symbols`.
  std::optional<int64_t> known(Dim d, std::span<const int64_t> symbols) const;
  // d with operand(part) for each of its operands.
  Dim with_operands(Dim d, const std::function<Dim(Dim)>& operand);
  // d with each symbol replaced by what `replace` returns for it (nullopt: the symbol stays).
  Dim substitute(Dim d, const std::function<std::optional<Dim>(int symbol)>& replace);
  Dim substitute(Dim d, int symbol, Dim by);
  Dim substitute(Dim d, int symbol, int64_t by) { return substitute(d, symbol, constant(by)); }

  // Text: s0*s1 + 4, min(s0, 3), (s0 // 2), (s0 % 2); variables print as i0, i1, ... (symbol - first_variable).
  std::string text(Dim d) const;
  // Parses what text() prints. nullopt when malformed.
  std::optional<Dim> parse(std::string_view text);

 private:
  struct State;
  std::optional<Dim> slope_of_sum(Dim d, int symbol);
  std::optional<Dim> slope_of_product(Dim d, int symbol);

  std::unique_ptr<State> state_;
};

}  // namespace accel
