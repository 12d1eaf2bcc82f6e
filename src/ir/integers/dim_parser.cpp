// Dims from their text.

#include <charconv>
#include <vector>

#include "ir/integers/dim.h"

namespace accel {

namespace {

// Recursive descent over the grammar that text() prints:
//   sum = term (("+" | "-") term)*;  term = factor ("*" factor)*
//   factor = "-" factor | number | s<k> | i<k> | ("min" | "max") "(" sum "," sum ")" | "(" sum [("//" | "%") sum] ")"
class DimParser {
 public:
  DimParser(DimTable& table, std::string_view text) : table_(table), text_(text) {}

  std::optional<Dim> parse() {
    auto out = sum();
    skip();
    return at_ == text_.size() ? out : std::nullopt;
  }

 private:
  std::optional<Dim> sum() {
    std::vector<Dim> terms;
    while (true) {
      const bool minus = !terms.empty() && eat("-");
      if (!terms.empty() && !minus && !eat("+")) return table_.sum(terms);
      auto next = term();
      if (!next) return next;
      terms.push_back(minus ? table_.mul(*next, -1) : *next);
    }
  }

  std::optional<Dim> term() {
    auto out = factor();
    while (out && eat("*")) {
      auto next = factor();
      if (!next) return next;
      out = table_.mul(*out, *next);
    }
    return out;
  }

  std::optional<Dim> factor() {
    if (eat("-")) {
      auto operand = factor();
      return operand ? std::optional(table_.mul(*operand, -1)) : std::nullopt;
    }
    if (eat("min(")) return call(&DimTable::min);
    if (eat("max(")) return call(&DimTable::max);
    if (eat("(")) return bracket();
    if (eat("s")) return symbol(0);
    if (eat("i")) return symbol(DimTable::first_variable);
    auto value = number();
    return value ? std::optional(table_.constant(static_cast<int64_t>(*value))) : std::nullopt;
  }

  std::optional<Dim> bracket() {
    auto out = sum();
    if (out && eat("//")) {
      auto divisor = sum();
      out = divisor ? std::optional(table_.floordiv(*out, *divisor)) : std::nullopt;
    } else if (out && eat("%")) {
      auto divisor = sum();
      out = divisor ? std::optional(table_.mod(*out, *divisor)) : std::nullopt;
    }
    return out && eat(")") ? out : std::nullopt;
  }

  std::optional<Dim> call(Dim (DimTable::*function)(Dim, Dim)) {
    auto a = sum();
    if (!a || !eat(",")) return std::nullopt;
    auto b = sum();
    if (!b || !eat(")")) return std::nullopt;
    return (table_.*function)(*a, *b);
  }

  std::optional<Dim> symbol(int base) {
    auto index = number();
    if (!index || *index >= static_cast<uint64_t>(DimTable::first_variable)) return std::nullopt;
    return table_.symbol(base + static_cast<int>(*index));
  }

  std::optional<uint64_t> number() {
    skip();
    uint64_t value = 0;
    auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) return std::nullopt;
    at_ = static_cast<size_t>(end - text_.data());
    return value;
  }

  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool eat(std::string_view token) {
    skip();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  DimTable& table_;
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::optional<Dim> DimTable::parse(std::string_view text) { return DimParser(*this, text).parse(); }

}  // namespace accel
