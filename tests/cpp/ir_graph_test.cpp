#include <gtest/gtest.h>

#include <cmath>

#include "ir/analysis/verifier.h"
#include "ir/builder.h"
#include "ir/graph.h"
#include "ir/text/text.h"

namespace accel {
namespace {

TEST(Literal, TextReadsBackToTheSameBits) {
  std::vector<Literal> literals;
  for (double value : {0.0, -0.0, 1.5, 0.1, 1e300, 5e-324, 6e-8, 65519.0, 65520.0, -1e-5, HUGE_VAL, -HUGE_VAL, std::nan("")}) {
    for (DType d : {DType::float16, DType::float32, DType::float64, DType::complex64, DType::complex128}) {
      literals.push_back(Literal::of_double(d, value));
      if (dtype_kind(d) == 'c') literals.push_back(Literal::of_complex(d, {1.25, value}));
    }
  }
  literals.push_back({DType::float64, {0xfff8000000000123u, 0}});  // a NaN with a payload
  for (int64_t value : {int64_t{0}, int64_t{-1}, INT64_MIN, INT64_MAX}) {
    for (DType d : {DType::bool_, DType::int8, DType::uint8, DType::int64, DType::uint64})
      literals.push_back(Literal::of_int(d, value));
  }
  for (const Literal& l : literals) {
    auto back = parse_literal(l.dtype, l.text());
    ASSERT_TRUE(back) << l.text();
    EXPECT_EQ(*back, l) << dtype_name(l.dtype) << " " << l.text();
  }
  for (const char* bad : {"", "x", "1.5.2", "(1, 2"}) EXPECT_FALSE(parse_literal(DType::float64, bad)) << bad;
}

TEST(Literal, HalfRoundsOnceToNearestEven) {
  auto bits = [](double value) { return Literal::of_double(DType::float16, value).bits[0]; };
  EXPECT_EQ(bits(1.0), 0x3c00u);
  EXPECT_EQ(bits(1.0 + 0x1p-11), 0x3c00u);            // halfway, to even
  EXPECT_EQ(bits(1.0 + 0x1p-11 + 0x1p-40), 0x3c01u);  // float32 in between would lose this
  EXPECT_EQ(bits(0x1p-25), 0u);
  EXPECT_EQ(bits(0x1.8p-25), 1u);
  EXPECT_EQ(bits(65519.99), 0x7bffu);
  EXPECT_EQ(bits(65520.0), 0x7c00u);
  EXPECT_EQ(bits(2047.75), 0x6800u);  // carries into the exponent
}

TEST(Literal, IntegersKeepTheirSign) {
  EXPECT_EQ(Literal::of_int(DType::int8, -3).as_int(), -3);
  EXPECT_EQ(Literal::of_int(DType::uint8, -3).as_int(), 253);
  EXPECT_EQ(Literal::of_int(DType::uint64, -1).as_complex().real(), 0x1p64);
}

struct Sample {
  Graph graph;
  Builder builder{graph};
  Dim rows, columns;
  ValueId x;
  Sample() {
    rows = graph.dims.symbol(graph.add_symbol("x.shape[0]", 10));
    columns = graph.dims.symbol(graph.add_symbol("x.shape[1]", 20));
    x = graph.add_input({"x"}, {ValueKind::array, DType::float64, {rows, columns}, {}});
  }
  std::vector<uint8_t> order(ValueId v) { return graph.type(v).axis_order(); }
};

using Order = std::vector<uint8_t>;

TEST(Builder, ViewsCarryTheirMemoryOrder) {
  Sample s;
  ValueId t = s.builder.transpose(s.x, {1, 0});
  EXPECT_EQ(s.order(t), (Order{1, 0}));
  EXPECT_TRUE(s.graph.type(s.builder.transpose(t, {1, 0})).order.empty());
  EXPECT_EQ(s.order(s.builder.expand_dims(t, {1})), (Order{1, 2, 0}));
  EXPECT_EQ(s.order(s.builder.broadcast_to(t, {s.rows, s.columns, s.rows})), (Order{0, 2, 1}));
  EXPECT_EQ(s.order(s.builder.reduce(Op::add, t, {0}, DType::float64)), (Order{0}));
}

TEST(Builder, ReshapeKeepsTheOrderOfAView) {
  Sample s;
  DimTable& d = s.graph.dims;
  ValueId t = s.builder.transpose(s.x, {1, 0});  // (columns, rows), columns fastest
  EXPECT_EQ(s.order(s.builder.reshape(t, {s.columns, d.constant(1), s.rows})), (Order{1, 2, 0}));
  EXPECT_EQ(s.order(s.builder.reshape(t, {d.mul(s.rows, s.columns)})), (Order{0}));  // copies
  EXPECT_EQ(s.order(s.builder.reshape(s.x, {d.mul(s.rows, s.columns)})), (Order{0}));
}

TEST(Verifier, AcceptsWhatTheBuilderMakes) {
  Sample s;
  ValueId row = s.builder.reduce(Op::add, s.x, {1}, DType::float64);
  ValueId spread = s.builder.broadcast_to(s.builder.expand_dims(row, {1}), {s.rows, s.columns});
  ValueId out = s.builder.pointwise(Op::subtract, {s.x, spread}, {DType::float64});
  s.graph.entry().terminator.operands = {out};
  EXPECT_TRUE(verify(s.graph).ok()) << verify(s.graph).failure().detail;
  std::string text = print_graph(s.graph);
  Result<Graph> back = parse_graph(text);
  ASSERT_TRUE(back.ok()) << back.failure().detail;
  EXPECT_EQ(print_graph(*back), text);
}

// Damaged text is an error or some other graph, never a crash; what is read and valid prints and reads back.
TEST(Text, SurvivesDamage) {
  Sample s;
  ValueId wide = s.builder.concatenate({s.x, s.builder.transpose(s.builder.transpose(s.x, {1, 0}), {1, 0})}, 0);
  ValueId cut = s.builder.slice(wide, {s.rows, s.rows}, {s.rows, s.rows}, {s.rows, s.rows});
  ValueId half = s.builder.constant(Literal::of_complex(DType::complex64, {0.5, -0.0}));
  s.graph.entry().terminator.operands = {s.builder.reduce(Op::add, cut, {0, 1}, DType::float64), half};
  ASSERT_TRUE(verify(s.graph).ok()) << verify(s.graph).failure().detail;
  std::string text = print_graph(s.graph);
  int read = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    for (const char* damage : {"", "9", "-", "}", "(", "%7", "x"}) {
      Result<Graph> graph = parse_graph(text.substr(0, at) + damage + text.substr(at + 1));
      if (!graph.ok() || !verify(*graph).ok()) continue;
      ++read;
      std::string again = print_graph(*graph);
      ASSERT_EQ(print_graph(parse_graph(again).value()), again);
    }
    EXPECT_TRUE(at + 1 == text.size() || !parse_graph(text.substr(0, at)).ok()) << at;
  }
  EXPECT_GT(read, 0);
}

TEST(Graph, CountsUses) {
  Sample s;
  ValueId sum = s.builder.pointwise(Op::add, {s.x, s.x}, {DType::float64});
  s.graph.entry().terminator.operands = {sum, sum};
  EXPECT_EQ(s.graph.use_counts(), (std::vector<int>{2, 2}));
}

TEST(Events, FollowTheDtype) {
  EXPECT_EQ(op_events(Op::divide, DType::float64), event_divide | event_overflow | event_underflow | event_invalid);
  EXPECT_EQ(op_events(Op::floor_divide, DType::int32), event_divide | event_overflow);
  EXPECT_EQ(op_events(Op::add, DType::int64), 0);
  EXPECT_EQ(op_events(Op::less, DType::float64), 0);
  EXPECT_EQ(op_events(Op::less, DType::complex64), event_invalid);
  EXPECT_EQ(op_events(Op::power, DType::int64), event_error);
  EXPECT_EQ(cast_events(DType::int64, DType::float16), event_overflow);
  EXPECT_EQ(cast_events(DType::int64, DType::float64), 0);
  EXPECT_EQ(cast_events(DType::float64, DType::int64), event_invalid);
  EXPECT_EQ(cast_events(DType::float32, DType::complex128), 0);
}

}  // namespace
}  // namespace accel
