// Golden texts: tests/golden/schedule/<step>/*.ir hold a graph, a line "---" and the program that schedule makes of it, with
// its notes as comments before it. ACCEL_BLESS=1 rewrites the expectations.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ir/text/text.h"
#include "ir/verifier.h"
#include "schedule/program/program.h"

namespace accel {
namespace {

namespace fs = std::filesystem;

std::string scheduled(const std::string& input) {
  Result<Graph> graph = parse_graph(input);
  if (!graph.ok()) return graph.failure().detail + "\n";
  Status valid = verify(*graph);
  if (!valid.ok()) return valid.failure().detail + "\n";
  std::vector<std::string> notes;
  Result<Program> program = schedule(*graph, &notes);
  if (!program.ok()) return program.failure().detail + "\n";
  std::string text = print_program(*program);
  Result<Program> back = parse_program(text);
  EXPECT_TRUE(back.ok()) << back.failure().detail;
  if (back.ok()) {
    EXPECT_EQ(print_program(*back), text);
  }
  std::string out;
  for (const std::string& note : notes) out += "# " + note + "\n";
  return out + text;
}

std::vector<fs::path> golden_files() {
  std::vector<fs::path> out;
  for (const auto& entry : fs::recursive_directory_iterator(ACCEL_TEST_DATA "/../schedule"))
    if (entry.path().extension() == ".ir") out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

class Schedule : public testing::TestWithParam<fs::path> {};

TEST_P(Schedule, Matches) {
  std::stringstream content;
  content << std::ifstream(GetParam()).rdbuf();
  std::string text = content.str();
  size_t line = text.find("---\n");
  std::string input = text.substr(0, line);
  std::string actual = scheduled(input);
  if (std::getenv("ACCEL_BLESS")) {
    std::ofstream(GetParam()) << input << "---\n" << actual;
  } else {
    EXPECT_EQ(actual, line == std::string::npos ? "" : text.substr(line + 4)) << "in " << GetParam();
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Schedule, testing::ValuesIn(golden_files()),
                         [](const auto& info) { return info.param.stem().string(); });

}  // namespace
}  // namespace accel
