#include "ir/integers/linear.h"

#include <algorithm>
#include <numeric>

namespace accel {

namespace {

constexpr int64_t most_constant = int64_t{1} << 61, most_factor = 1 << 12;

// a + times * b within the limit.
std::optional<int64_t> sum_of(int64_t a, int64_t times, int64_t b, int64_t limit) {
  int64_t product = 0, sum = 0;
  if (__builtin_mul_overflow(times, b, &product) || __builtin_add_overflow(a, product, &sum)) return std::nullopt;
  return sum >= -limit && sum <= limit ? std::optional(sum) : std::nullopt;
}

int64_t floor_of(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

}  // namespace

Linear Linear::of(Key key, int64_t factor) {
  Linear out;
  if (factor != 0) out.terms_.push_back({key, factor});
  return out;
}

int64_t Linear::factor(Key key) const {
  auto found = std::find_if(terms_.begin(), terms_.end(), [&](const Term& term) { return term.key == key; });
  return found == terms_.end() ? 0 : found->factor;
}

std::optional<Linear> Linear::plus(const Linear& other, int64_t times) const {
  Linear out;
  std::optional<int64_t> constant = sum_of(constant_, times, other.constant_, most_constant);
  if (!constant) return std::nullopt;
  out.constant_ = *constant;
  auto a = terms_.begin(), b = other.terms_.begin();
  while (a != terms_.end() || b != other.terms_.end()) {
    bool mine = b == other.terms_.end() || (a != terms_.end() && a->key <= b->key);
    bool others = a == terms_.end() || (b != other.terms_.end() && b->key <= a->key);
    Key key = mine ? a->key : b->key;
    std::optional<int64_t> factor = sum_of(mine ? a->factor : 0, times, others ? b->factor : 0, most_factor);
    if (!factor) return std::nullopt;
    if (*factor != 0) out.terms_.push_back({key, *factor});
    if (mine) ++a;
    if (others) ++b;
  }
  return out;
}

std::optional<Linear> Linear::substituted(Key key, const Linear& by) const {
  int64_t times = factor(key);
  if (times == 0) return *this;
  std::optional<Linear> rest = plus(of(key), -times);
  return rest ? rest->plus(by, times) : std::nullopt;
}

Linear Linear::reduced() const {
  int64_t common = 0;
  for (const Term& term : terms_) common = std::gcd(common, term.factor);
  if (common <= 1) return *this;
  Linear out = *this;
  for (Term& term : out.terms_) term.factor /= common;
  out.constant_ = floor_of(constant_, common);
  return out;
}

}  // namespace accel
