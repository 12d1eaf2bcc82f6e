#pragma once
// Linear: a constant and multiples of numbers that are not known. Facts and goals about integers are such sums that are >= 0.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace accel {

class Linear {
 public:
  using Key = int64_t;  // identifies a number; chosen by the user
  struct Term {
    Key key = 0;
    int64_t factor = 0;
    auto operator<=>(const Term&) const = default;
  };

  Linear() = default;
  explicit Linear(int64_t constant) : constant_(constant) {}
  static Linear of(Key key, int64_t factor = 1);

  const std::vector<Term>& terms() const { return terms_; }  // by key, without zeros
  int64_t constant() const { return constant_; }
  bool is_constant() const { return terms_.empty(); }
  int64_t factor(Key key) const;  // 0: there is none
  auto operator<=>(const Linear&) const = default;

  // this + times * other; nullopt where numbers get too large to be exact.
  std::optional<Linear> plus(const Linear& other, int64_t times = 1) const;
  std::optional<Linear> times(int64_t factor) const { return Linear().plus(*this, factor); }
  // This sum with `by` for the key.
  std::optional<Linear> substituted(Key key, const Linear& by) const;
  // What is >= 0 for integers if and only if this is, without a common factor.
  Linear reduced() const;

 private:
  std::vector<Term> terms_;
  int64_t constant_ = 0;
};

}  // namespace accel
