// What emit_cpp writes and refuses. What the kernels compute is tested in tests/codegen.

#include <gtest/gtest.h>

#include "codegen/kernel_source.h"
#include "codegen/prelude.h"
#include "ir/op.h"

namespace accel {

namespace {

std::string program_text(const std::string& statements, const std::string& temps, const std::string& header = "") {
  return "program symbols 2 inputs 1 outputs 1\n"
         "buffer b0 input float64 [s0*s1] 0 \"the \\\"x\\\"\"\n"
         "buffer b1 output float64 [s0*s1] 0 \"\"\n"
         "buffer b2 scratch float64 [16] -1 \"row\"\n"
         "import exp (float64, float64)\n"
         "temps " +
         temps + "\n" + header + "nest \"n\" work [s0*s1 + 4] any_thread {\n" + statements + "}\n";
}

Result<KernelSource> emit(const std::string& text) {
  ACCEL_TRY(Program program, parse_program(text));
  return emit_cpp(program);
}

const char* const everything =
    "  t0 = constant float64 -0 @3\n"
    "  t1 = constant complex128 (1.5, -inf)\n"
    "  tile parallel i0 i1 [s0] 1024 {\n"
    "    call 0 [i1] (b0[8*i0]:[8], b2[0]:[8])\n"
    "    loop simd i2 [i1] {\n"
    "      t2 = load float64 b2[8*i2]\n"
    "      store float64 b1[8*i0 + 8*i2] (t2)\n"
    "    }\n"
    "  }\n"
    "  t3 = pairwise float64 i3 [s1] (t4) 8192 divided {\n"
    "    t4 = load float64 b0[8*i3]\n"
    "  }\n"
    "  t5 = fold maximum float64 i4 [s1] (t6, t0) whole {\n"
    "    t6 = load float64 b0[8*i4]\n"
    "  }\n"
    "  t7 = argreduce argmin int64 i5 [s1] (t8) divided @4 {\n"
    "    t8 = load float64 b0[8*i5]\n"
    "  }\n"
    "  t9 = declare float64 (t0)\n"
    "  t9 = assign float64 (t5)\n"
    "  t10 = index int64 [((s0 + 1) // 2)]\n"
    "  t11 = input float64 1\n"
    "  t12 = compute add float64 (t9, t11)\n"
    "  gufunc 0 [] (b0[0]:[], b1[0]:[8]) ([s0], [s1]) ([8*s1], [8])\n";
const char* const all_temps =
    "(float64, complex128, float64, float64, float64, float64, float64, int64, float64, float64, int64, float64, float64)";

TEST(ProgramText, PrintAndParseAreInverse) {
  std::string text = program_text(everything, all_temps, "variant (s1 = 2, s0 = 3)\n");
  auto program = parse_program(text);
  ASSERT_TRUE(program) << program.failure().detail;
  EXPECT_EQ(print_program(*program), text);
  EXPECT_EQ(program->buffers[0].name, "the \"x\"");
  EXPECT_EQ(program->nests[0].body[3].chunk, 8192);
  EXPECT_TRUE(program->nests[0].body[5].divide_work);
  EXPECT_EQ(program->nests[0].body[5].node, 4);
}

TEST(ProgramText, MalformedLinesAreNamed) {
  auto program = parse_program(program_text("  t0 = load float64 b0[8*]\n", "(float64)"));
  ASSERT_FALSE(program);
  EXPECT_NE(program.failure().detail.find("line 8"), std::string::npos) << program.failure().detail;
  EXPECT_FALSE(parse_program("program symbols 1\n"));
  EXPECT_FALSE(parse_program(program_text("  loop serial i0 [s0] {\n", "()")));
}

TEST(EmitCpp, EveryStatementHasAWriter) {
  auto source = emit(program_text(everything, all_temps));
  ASSERT_TRUE(source) << source.failure().detail;
  EXPECT_EQ(source->text.find("#include"), std::string::npos);
  ASSERT_EQ(source->imports.size(), 1u);
  EXPECT_EQ(source->imports[0].op, Op::exp);
}

TEST(EmitCpp, AnOpWithoutTextIsRefused) {
  auto source = emit(program_text("  t0 = constant float64 1\n  t1 = compute exp float64 (t0)\n", "(float64, float64)"));
  ASSERT_FALSE(source);
  EXPECT_NE(source.failure().detail.find("exp"), std::string::npos);
}

TEST(EmitCpp, ScratchSharedWithAParallelLoopIsRefused) {
  std::string statements =
      "  t0 = constant float64 1\n"
      "  store float64 b2[0] (t0)\n"
      "  loop parallel i0 [s0] {\n"
      "    t1 = load float64 b2[0]\n"
      "    store float64 b1[8*i0] (t1)\n"
      "  }\n";
  EXPECT_FALSE(emit(program_text(statements, "(float64, float64)")));
}

TEST(EmitCpp, SmallKnownLoopsAreWrittenOut) {
  std::string statements =
      "  loop parallel i0 [s0] {\n"
      "    loop serial i1 [s1] {\n"
      "      t0 = load float64 b0[8*s1*i0 + 8*i1]\n"
      "      store float64 b1[8*s1*i0 + 8*i1] (t0)\n"
      "    }\n"
      "  }\n";
  auto source = emit(program_text(statements, "(float64)", "variant (s1 = 3)\n"));
  ASSERT_TRUE(source);
  EXPECT_NE(source->text.find("load_f64(b0 + (24L*x0 + 16L))"), std::string::npos);
}

TEST(Prelude, FunctionsOfTheOpTableExist) {
  std::string prelude;
  for (const char* part : {"scalar", "casts", "division", "half", "complex", "complex_operations", "libm_functions", "python",
                           "python_complex", "cmath", "powers"})
    prelude += prelude_part(part);
  for (int k = 0; k < op_count(); ++k) {
    const OpInfo& info = op_info(static_cast<Op>(k));
    std::string cell = info.cpp;
    size_t end = cell.find_first_of("(<");
    if (cell.empty() || cell[0] == '$' || end == cell.npos) continue;
    std::string name = cell.substr(0, end);
    bool library = name.starts_with("libm_");  // declared by macros
    EXPECT_NE(prelude.find(library ? "(" + name.substr(5) + ")" : name + "("), std::string::npos) << name;
  }
}

}  // namespace

}  // namespace accel
