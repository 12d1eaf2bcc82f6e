#include <gtest/gtest.h>

#include <string>

#include "schedule/program/verifier.h"

namespace accel {
namespace {

constexpr const char* start =
    "program symbols 1 inputs 1 outputs 1\n"
    "buffer b0 input float64 [s0] 0 \"x\"\n"
    "buffer b1 output float64 [s0] 0 \"y\"\n"
    "temps (float64, float64)\n";

std::string verdict(const std::string& nests) {
  Result<Program> program = parse_program(start + nests);
  if (!program.ok()) return program.failure().detail;
  Status status = verify(*program);
  return status.ok() ? "valid" : status.failure().detail;
}

std::string loop(const std::string& body) {
  return verdict("nest \"v\" work [s0] any_thread {\nloop parallel i0 [s0] {\n" + body + "}\n}\n");
}

TEST(ProgramVerifier, AcceptsWhatIsWellFormed) {
  EXPECT_EQ(loop("t0 = load float64 b0[8*i0]\nt1 = compute negative float64 (t0)\nstore float64 b1[8*i0] (t1)\n"), "valid");
}

TEST(ProgramVerifier, KnowsWhatIsComputed) {
  EXPECT_EQ(loop("store float64 b1[8*i0] (t1)\n"), "malformed program: nest 0: a temp that is used before it is computed");
  EXPECT_EQ(loop("t2 = load float64 b0[8*i0]\n"), "malformed program: nest 0: no such temp");
  EXPECT_EQ(loop("loop serial i1 [3] {\nt0 = load float64 b0[8*i1]\n}\nstore float64 b1[8*i0] (t0)\n"),
            "malformed program: nest 0: a temp that is used before it is computed");
}

TEST(ProgramVerifier, KnowsTheVariablesOfOpenLoops) {
  EXPECT_EQ(loop("t0 = load float64 b0[8*i1]\n"), "malformed program: nest 0: a variable outside of its loop");
  EXPECT_EQ(loop("loop serial i0 [3] {\n}\n"), "malformed program: nest 0: a loop over the variable of a loop around it");
  EXPECT_EQ(loop("t0 = load float64 b0[8*s3]\n"), "malformed program: nest 0: no such symbol");
}

TEST(ProgramVerifier, KnowsWhatThereIs) {
  EXPECT_EQ(loop("t0 = load float64 b7[8*i0]\n"), "malformed program: nest 0: no such buffer");
  EXPECT_EQ(verdict("block {\nrun 3\nexit 0 (0:float64:b1:([s0]))\n}\n"), "malformed program: block 0: no such nest");
  EXPECT_EQ(verdict("block {\njump 4 () ()\n}\n"), "malformed program: block 0: no such block");
}

}  // namespace
}  // namespace accel
