#include <gtest/gtest.h>

#include <random>

#include "ir/integers/dim.h"

namespace accel {
namespace {

class DimTest : public testing::Test {
 protected:
  DimTable t;
  Dim s0 = t.symbol(0), s1 = t.symbol(1), s2 = t.symbol(2);
  Dim c(int64_t value) { return t.constant(value); }
};

TEST_F(DimTest, EqualPolynomialsAreTheSameHandle) {
  EXPECT_EQ(t.mul(t.add(s0, s1), t.sub(s0, s1)), t.sub(t.mul(s0, s0), t.mul(s1, s1)));
  EXPECT_EQ(t.add(t.mul(s1, s0), c(4)), t.add(c(4), t.mul(s0, s1)));
  EXPECT_EQ(t.sub(s0, s0), c(0));
  EXPECT_EQ(t.add(s0, s0), t.mul(s0, 2));
}

TEST_F(DimTest, DivisionTakesOutWhatItCan) {
  EXPECT_EQ(t.floordiv(t.mul(s0, 8), c(8)), s0);
  EXPECT_EQ(t.floordiv(t.add(t.mul(s0, 8), c(7)), c(8)), s0);
  EXPECT_EQ(t.floordiv(t.add(t.mul(s0, 8), c(-1)), c(8)), t.sub(s0, c(1)));
  EXPECT_EQ(t.mod(t.add(t.mul(s0, 8), c(11)), c(8)), c(3));
  EXPECT_EQ(t.text(t.floordiv(t.add(t.mul(s0, 4), s1), c(2))), "2*s0 + (s1 // 2)");
  // s0 may be 0.
  EXPECT_EQ(t.kind(t.floordiv(t.mul(s0, s1), s0)), DimKind::floordiv);
}

TEST_F(DimTest, DivisionByWhatIsNotZero) {
  Dim blocks = t.floordiv(s0, s1);
  EXPECT_EQ(t.quotient(t.mul(blocks, s1), s1), blocks);
  EXPECT_EQ(t.quotient(t.add(t.mul(t.mul(s0, s1), 6), c(5)), t.mul(s1, 2)),
            t.add(t.mul(s0, 3), t.floordiv(c(5), t.mul(s1, 2))));
  EXPECT_EQ(t.quotient(s0, s1), blocks);
  EXPECT_EQ(t.remainder(t.mul(blocks, s1), s1), c(0));
  EXPECT_EQ(t.remainder(t.add(t.mul(s0, s1), s2), s1), t.mod(s2, s1));
  EXPECT_EQ(t.quotient(t.mul(s0, s1), t.add(s0, c(1))), t.floordiv(t.mul(s0, s1), t.add(s0, c(1))));
}

TEST_F(DimTest, ExtremesOfComparableDims) {
  EXPECT_EQ(t.min(s0, t.add(s0, c(1))), s0);
  EXPECT_EQ(t.max(s0, t.add(s0, c(1))), t.add(s0, c(1)));
  EXPECT_EQ(t.min(s0, s1), t.min(s1, s0));
}

TEST_F(DimTest, Texts) {
  EXPECT_EQ(t.text(t.add(t.mul(s0, s1), c(4))), "s0*s1 + 4");
  EXPECT_EQ(t.text(t.sub(c(3), s0)), "-s0 + 3");
  EXPECT_EQ(t.text(t.sub(s0, t.mul(s1, 2))), "s0 - 2*s1");
  EXPECT_EQ(t.text(t.min(s0, c(3))), "min(3, s0)");
  EXPECT_EQ(t.text(t.symbol(DimTable::first_variable + 2)), "i2");
  EXPECT_EQ(t.text(c(INT64_MIN)), "-9223372036854775808");
  for (const char* bad : {"", "s", "s0 +", "(s0", "s0 s1", "min(s0)", "2 ** s0", "s99999999999"})
    EXPECT_FALSE(t.parse(bad)) << bad;
}

TEST_F(DimTest, NewVariablesAreNew) {
  Dim a = t.new_variable(), b = t.new_variable();
  EXPECT_NE(a, b);
  Dim parsed = *t.parse("i7");
  Dim last = t.new_variable();
  EXPECT_TRUE(DimTable::is_variable(*t.as_symbol(last)));
  EXPECT_FALSE(last == a || last == b || last == parsed);
  DimTable copy = t;
  EXPECT_EQ(copy.as_symbol(copy.new_variable()), t.as_symbol(t.new_variable()));
  EXPECT_TRUE(t.has_variables(t.add(s0, a)));
  EXPECT_FALSE(t.has_variables(t.add(s0, s1)));
}

TEST_F(DimTest, SubstituteRebuildsTheNormalForm) {
  Dim d = t.add(t.mul(s0, s1), t.floordiv(s0, c(2)));
  auto replace = [&](int symbol) { return symbol == 0 ? std::optional(t.add(s2, s2)) : std::nullopt; };
  EXPECT_EQ(t.substitute(d, replace), t.add(t.mul(t.mul(s2, s1), 2), s2));
  EXPECT_EQ(t.substitute(d, 0, t.add(s2, s2)), t.add(t.mul(t.mul(s2, s1), 2), s2));
  EXPECT_EQ(t.substitute(d, 0, 4), t.add(t.mul(s1, 4), c(2)));
  EXPECT_EQ(t.symbols(d), (std::vector<int>{0, 1}));
}

TEST_F(DimTest, HasASlope) {
  EXPECT_EQ(t.slope(t.add(t.mul(s0, t.add(s1, c(3))), s2), 0), t.add(s1, c(3)));
  EXPECT_EQ(t.slope(t.add(t.mul(s0, -4), t.floordiv(s1, s2)), 0), c(-4));
  EXPECT_EQ(t.slope(t.mul(s0, t.mod(s1, s2)), 0), t.mod(s1, s2));
  EXPECT_EQ(t.slope(t.min(s1, s2), 0), c(0));
}

TEST_F(DimTest, HasNoSlopeWhereItIsNotLinear) {
  EXPECT_EQ(t.slope(t.mul(s0, s0), 0), std::nullopt);
  EXPECT_EQ(t.slope(t.max(s0, c(3)), 0), std::nullopt);
  EXPECT_EQ(t.slope(t.mul(s1, t.mod(s0, c(100))), 0), std::nullopt);
  EXPECT_EQ(t.slope(t.add(s0, t.floordiv(s0, c(100))), 0), std::nullopt);
  Dim zero_from_0_to_3 = t.product(std::vector{s0, t.sub(s0, c(1)), t.sub(s0, c(2)), t.sub(s0, c(3))});
  EXPECT_EQ(t.slope(zero_from_0_to_3, 0), std::nullopt);
}

TEST_F(DimTest, KnowsItsSymbols) {
  Dim d = t.add(t.mul(s0, 2), t.min(s2, c(3)));
  EXPECT_TRUE(t.names(d, 0) && t.names(d, 2));
  EXPECT_FALSE(t.names(d, 1) || t.names(c(7), 0));
  EXPECT_EQ(t.known(d, std::vector<int64_t>{5, 0, 2}), 12);
  EXPECT_EQ(t.known(d, std::vector<int64_t>{5, 0}), std::nullopt);
  EXPECT_EQ(t.known(c(7), {}), 7);
}

// Random expressions: the value is the one of the operations they were built from, and text reads back to the same handle.
TEST_F(DimTest, RandomExpressions) {
  std::mt19937 random(1);
  auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 2000; ++round) {
    std::vector<int64_t> symbols = {pick(20) - 5, pick(20) - 5, pick(20) - 5};
    std::vector<std::pair<Dim, int64_t>> pool = {{s0, symbols[0]}, {s1, symbols[1]}, {s2, symbols[2]},
                                                 {c(3), 3},        {c(-2), -2},      {c(0), 0}};
    for (int step = 0; step < 8; ++step) {
      auto [a, x] = pool[static_cast<size_t>(pick(static_cast<int>(pool.size())))];
      auto [b, y] = pool[static_cast<size_t>(pick(static_cast<int>(pool.size())))];
      auto floored = [](int64_t p, int64_t q) { return p / q - (p % q != 0 && (p < 0) != (q < 0)); };
      switch (pick(6)) {
        case 0:
          pool.push_back({t.add(a, b), x + y});
          break;
        case 1:
          pool.push_back({t.sub(a, b), x - y});
          break;
        case 2:
          if (std::abs(x * y) < 1000) pool.push_back({t.mul(a, b), x * y});
          break;
        case 3:
          pool.push_back({t.floordiv(a, b), y == 0 ? 0 : floored(x, y)});
          break;
        case 4:
          pool.push_back({t.mod(a, b), y == 0 ? 0 : x - y * floored(x, y)});
          break;
        default:
          pool.push_back(step % 2 ? std::pair{t.min(a, b), std::min(x, y)} : std::pair{t.max(a, b), std::max(x, y)});
      }
    }
    auto [d, value] = pool.back();
    ASSERT_EQ(t.evaluate(d, symbols), value) << t.text(d);
    ASSERT_EQ(t.parse(t.text(d)), d) << t.text(d);
    DimTable fresh;
    ASSERT_EQ(fresh.text(*fresh.parse(t.text(d))), t.text(d));
  }
}

}  // namespace
}  // namespace accel
