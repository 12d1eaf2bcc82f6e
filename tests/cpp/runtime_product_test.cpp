// Plans of products for cuBLAS, carried out on the CPU: the numbers must be those of NumPy's definition of the gufuncs.

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <random>
#include <vector>

#include "runtime/cuda/libraries/product_plan.h"

namespace accel {
namespace {

using Number = std::complex<double>;
using Form = ProductFactor::Form;
constexpr intptr_t size = sizeof(Number);

Number element(const std::vector<Number>& memory, int64_t start, const ProductFactor& f, int64_t matrix, int64_t row,
               int64_t column) {
  if (f.form != Form::plain) std::swap(row, column);
  Number value = memory.at(static_cast<size_t>(start + matrix * f.matrix_step + column * f.column_step + row));
  return f.form == Form::conjugated ? std::conj(value) : value;
}

// What cublasZgemmStridedBatched does, with its demands.
void carry_out(const ProductPlan& p, const std::vector<Number>* operands, const int64_t* starts, std::vector<Number>& result) {
  auto least = [](const ProductFactor& f, int64_t rows, int64_t columns) { return f.form == Form::plain ? rows : columns; };
  ASSERT_GE(p.left.column_step, std::max<int64_t>(1, least(p.left, p.rows, p.depth)));
  ASSERT_GE(p.right.column_step, std::max<int64_t>(1, least(p.right, p.depth, p.columns)));
  ASSERT_GE(p.result_column_step, std::max<int64_t>(1, p.rows));
  for (int64_t b = 0; b < p.count; b++)
    for (int64_t i = 0; i < p.rows; i++)
      for (int64_t j = 0; j < p.columns; j++) {
        Number sum = 0;
        for (int64_t k = 0; k < p.depth; k++)
          sum += element(operands[p.left.operand], starts[p.left.operand], p.left, b, i, k) *
                 element(operands[p.right.operand], starts[p.right.operand], p.right, b, k, j);
        result.at(static_cast<size_t>(starts[2] + b * p.result_matrix_step + j * p.result_column_step + i)) = sum;
      }
}

// One call: an operand has an outer dimension and up to two core dimensions, with steps in elements.
struct Case {
  Op op;
  std::vector<intptr_t> dims;
  std::vector<std::vector<int64_t>> extents, steps;

  std::vector<intptr_t> strides() const {
    std::vector<intptr_t> out;
    for (const auto& s : steps) out.push_back(s[0] * size);
    for (const auto& s : steps)
      for (size_t i = 1; i < s.size(); i++) out.push_back(s[i] * size);
    return out;
  }
};

Case make_case(Op op, int64_t count, int64_t m, int64_t k, int64_t n) {
  if (op == Op::matmul) return {op, {count, m, k, n}, {{count, m, k}, {count, k, n}, {count, m, n}}, {}};
  if (op == Op::matvec) return {op, {count, m, k}, {{count, m, k}, {count, k}, {count, m}}, {}};
  if (op == Op::vecmat) return {op, {count, k, n}, {{count, k}, {count, k, n}, {count, n}}, {}};
  return {op, {count, k}, {{count, k}, {count, k}, {count}}, {}};
}

class Memory {
 public:
  explicit Memory(const Case& c) {
    for (int i = 0; i < 3; i++) {
      int64_t low = 0, high = 0;
      for (size_t d = 0; d < c.extents[i].size(); d++) {
        int64_t reach = std::max<int64_t>(0, c.extents[i][d] - 1) * c.steps[i][d];
        (reach < 0 ? low : high) += reach;
      }
      starts[i] = -low;
      operands[i].resize(static_cast<size_t>(high - low + 1));
    }
  }
  std::vector<Number> operands[3];
  int64_t starts[3];
};

Number& at(Memory& memory, const Case& c, int operand, std::initializer_list<int64_t> index) {
  int64_t position = memory.starts[operand];
  size_t d = 0;
  for (int64_t i : index) position += i * c.steps[operand][d++];
  return memory.operands[operand].at(static_cast<size_t>(position));
}

// By NumPy's definition.
void define(const Case& c, Memory& memory) {
  const int64_t count = c.dims[0], k_extent = c.op == Op::matmul || c.op == Op::matvec ? c.dims[2] : c.dims[1];
  const int64_t m = c.op == Op::matmul || c.op == Op::matvec ? c.dims[1] : 1;
  const int64_t n = c.op == Op::matmul ? c.dims[3] : c.op == Op::vecmat ? c.dims[2] : 1;
  for (int64_t b = 0; b < count; b++)
    for (int64_t i = 0; i < m; i++)
      for (int64_t j = 0; j < n; j++) {
        Number sum = 0;
        for (int64_t k = 0; k < k_extent; k++) switch (c.op) {
            case Op::matmul:
              sum += at(memory, c, 0, {b, i, k}) * at(memory, c, 1, {b, k, j});
              break;
            case Op::matvec:
              sum += at(memory, c, 0, {b, i, k}) * at(memory, c, 1, {b, k});
              break;
            case Op::vecmat:
              sum += std::conj(at(memory, c, 0, {b, k})) * at(memory, c, 1, {b, k, j});
              break;
            default:
              sum += std::conj(at(memory, c, 0, {b, k})) * at(memory, c, 1, {b, k});
              break;
          }
        (c.op == Op::matmul   ? at(memory, c, 2, {b, i, j})
         : c.op == Op::matvec ? at(memory, c, 2, {b, i})
         : c.op == Op::vecmat ? at(memory, c, 2, {b, j})
                              : at(memory, c, 2, {b})) = sum;
      }
}

// Whether there is a plan; it must give what the definition gives, and touch nothing else of the result's memory.
bool is_planned(const Case& c, std::mt19937& random) {
  auto plan = plan_product(c.op, DType::complex128, c.dims.data(), c.strides().data());
  if (!plan) return false;
  Memory memory(c);
  std::uniform_int_distribution<int> digit(-9, 9);
  for (auto& operand : memory.operands)
    for (Number& number : operand) number = {double(digit(random)), double(digit(random))};
  std::vector<Number> result = memory.operands[2];
  if (!plan->is_empty()) carry_out(*plan, memory.operands, memory.starts, result);
  define(c, memory);
  EXPECT_EQ(result, memory.operands[2]);
  return true;
}

constexpr Op ops[] = {Op::matmul, Op::matvec, Op::vecmat, Op::vecdot};

// Steps of a dense array with its dimensions in a random order, some of them stretched, broadcast or backwards.
std::vector<int64_t> random_steps(const std::vector<int64_t>& extents, bool is_result, std::mt19937& random) {
  std::vector<int64_t> steps(extents.size());
  std::vector<size_t> order(extents.size());
  for (size_t i = 0; i < order.size(); i++) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  int64_t step = random() % 4 == 0 ? 2 : 1;
  for (size_t d : order) {
    steps[d] = step;
    step *= std::max<int64_t>(1, extents[d]);
    if (random() % 3 == 0) step += 3;
    if (!is_result && random() % 6 == 0) steps[d] = 0;
    if (random() % 12 == 0) steps[d] = -steps[d];
  }
  return steps;
}

TEST(ProductPlan, RandomLayoutsGiveNumPysNumbers) {
  std::mt19937 random(5);
  int planned = 0;
  for (int round = 0; round < 20000; round++) {
    auto extent = [&] { return static_cast<int64_t>(random() % 5); };
    Case c = make_case(ops[round % 4], extent(), extent(), extent(), extent());
    for (int i = 0; i < 3; i++) c.steps.push_back(random_steps(c.extents[static_cast<size_t>(i)], i == 2, random));
    planned += is_planned(c, random);
    ASSERT_FALSE(HasFailure()) << "round " << round;
  }
  EXPECT_GT(planned, 8000);
}

TEST(ProductPlan, ContiguousOperandsAreAlwaysPlanned) {
  std::mt19937 random(6);
  for (Op op : ops)
    for (int64_t count : {1, 3})
      for (int64_t m : {1, 4})
        for (int64_t k : {0, 1, 5})
          for (int64_t n : {1, 2}) {
            Case c = make_case(op, count, m, k, n);
            for (const auto& extents : c.extents) {
              std::vector<int64_t> steps(extents.size(), 1);
              for (size_t d = extents.size() - 1; d > 0; d--) steps[d - 1] = steps[d] * extents[d];
              c.steps.push_back(steps);
            }
            EXPECT_TRUE(is_planned(c, random)) << op_info(op).name << " " << count << " " << m << " " << k << " " << n;
          }
}

TEST(ProductPlan, OneMatrixForManyRowsIsOneProduct) {
  const intptr_t dims[] = {7, 4, 5, 3}, strides[] = {80, 0, 48, 20, 4, 12, 4, 12, 4};
  auto plan = plan_product(Op::matmul, DType::float32, dims, strides);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->count, 1);
  EXPECT_EQ(plan->columns, 28);
}

TEST(ProductPlan, OtherDTypesAndOddStridesAreRefused) {
  const intptr_t dims[] = {1, 4, 5, 3}, strides[] = {0, 0, 0, 20, 4, 12, 4, 12, 4}, odd[] = {0, 0, 0, 21, 4, 12, 4, 12, 4};
  EXPECT_TRUE(plan_product(Op::matmul, DType::float32, dims, strides).has_value());
  EXPECT_FALSE(plan_product(Op::matmul, DType::int32, dims, strides).has_value());
  EXPECT_FALSE(plan_product(Op::inv, DType::float32, dims, strides).has_value());
  EXPECT_FALSE(plan_product(Op::matmul, DType::float32, dims, odd).has_value());
}

}  // namespace
}  // namespace accel
