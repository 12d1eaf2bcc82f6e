// Golden texts. ACCEL_BLESS=1 rewrites the expectations.
//
// tests/golden/schedule/steps/<step>/*.ir hold a graph, a line "---", what the step works on, a line "---", and what it makes
// of it. The other folders of tests/golden/schedule have whole runs: a graph, a line "---" and its program, with the notes of
// the schedule as comments before it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "ir/analysis/flow.h"
#include "ir/analysis/verifier.h"
#include "ir/text/text.h"
#include "schedule/schedule.h"

namespace accel {
namespace {

namespace fs = std::filesystem;

const fs::path folder = ACCEL_TEST_DATA "/../schedule", step_folder = folder / "steps";

bool is_of_step(const fs::path& file) { return file.parent_path().parent_path().filename() == "steps"; }

std::string program_text(const Schedule& made) {
  std::string text = print_program(made.program);
  Result<Program> back = parse_program(text);
  EXPECT_TRUE(back.ok()) << back.failure().detail;
  if (back.ok()) {
    EXPECT_EQ(print_program(*back), text);
  }
  std::string out;
  for (const std::string& note : made.notes) out += "# " + note + "\n";
  return out + text;
}

std::string step_text(const Schedule& made, const std::string& name) {
  for (const StepRecord& step : made.steps)
    if (step.name == name) return step.before + "---\n" + step.text;
  return "the step does not run\n";
}

std::string scheduled(const fs::path& file, const std::string& input) {
  Result<Graph> graph = parse_graph(input);
  if (!graph.ok()) return graph.failure().detail + "\n";
  Status valid = verify(*graph);
  if (!valid.ok()) return valid.failure().detail + "\n";
  const bool of_step = is_of_step(file);
  Result<Schedule> made = schedule(*graph, {.keep_text = of_step});
  if (!made.ok()) return made.failure().detail + "\n";
  return of_step ? step_text(*made, file.parent_path().filename()) : program_text(*made);
}

std::vector<fs::path> golden_files() {
  std::vector<fs::path> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".ir") out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

class ScheduleTest : public testing::TestWithParam<fs::path> {};

TEST_P(ScheduleTest, Matches) {
  std::stringstream content;
  content << std::ifstream(GetParam()).rdbuf();
  std::string text = content.str();
  size_t line = text.find("---\n");
  std::string input = text.substr(0, line);
  std::string actual = scheduled(GetParam(), input);
  if (std::getenv("ACCEL_BLESS")) {
    std::ofstream(GetParam()) << input << "---\n" << actual;
  } else {
    EXPECT_EQ(actual, line == std::string::npos ? "" : text.substr(line + 4)) << "in " << GetParam();
  }
}

INSTANTIATE_TEST_SUITE_P(Files, ScheduleTest, testing::ValuesIn(golden_files()), [](const auto& info) {
  return info.param.parent_path().filename().string() + "_" + info.param.stem().string();
});

TEST(Steps, HaveACaseEach) {
  std::set<std::string> names, folders;
  for (const StepInfo& step : schedule_steps()) names.insert(step.name);
  for (const auto& entry : fs::directory_iterator(step_folder)) folders.insert(entry.path().filename());
  EXPECT_EQ(names, folders);
}

Result<Graph> graph_of(const fs::path& file) {
  std::stringstream content;
  content << std::ifstream(file).rdbuf();
  std::string text = content.str();
  return parse_graph(text.substr(0, text.find("---\n")));
}

// In each case the step has something to do.
TEST(Steps, ChangeTheirCases) {
  for (const fs::path& file : golden_files()) {
    if (!is_of_step(file)) continue;
    Result<Graph> graph = graph_of(file);
    ASSERT_TRUE(graph.ok()) << file;
    Result<Schedule> made = schedule(*graph);
    ASSERT_TRUE(made.ok()) << file;
    bool changed = false;
    for (const StepRecord& step : made->steps)
      changed = changed || (step.name == file.parent_path().filename() && step.changed);
    EXPECT_TRUE(changed) << file;
  }
}

TEST(Steps, OnGraphsComeFirst) {
  const std::vector<StepInfo>& steps = schedule_steps();
  EXPECT_TRUE(std::is_sorted(steps.begin(), steps.end(), [](const StepInfo& a, const StepInfo& b) {
    return (a.unit == StepUnit::graph) > (b.unit == StepUnit::graph);
  }));
}

TEST(Steps, StopAfterN) {
  const std::vector<StepInfo>& steps = schedule_steps();
  for (const fs::path& file : golden_files()) {
    if (!is_of_step(file)) continue;
    Result<Graph> graph = graph_of(file);
    ASSERT_TRUE(graph.ok()) << file;
    const bool flow = has_flow(*graph);
    const StepTargets own = graph->target.is_device() ? StepTargets::device : StepTargets::cpu;
    for (size_t n = 0; n <= steps.size(); ++n) {
      Result<Schedule> made = schedule(*graph, {.stop_after = static_cast<int>(n)});
      ASSERT_TRUE(made.ok()) << file << ": " << made.failure().detail;
      const auto run = std::count_if(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(n), [&](const StepInfo& step) {
        const bool suits = step.targets == StepTargets::all || step.targets == own;
        return suits && (flow || !step.needs_flow);
      });
      EXPECT_EQ(made->steps.size(), static_cast<size_t>(run)) << file;
    }
  }
}

}  // namespace
}  // namespace accel
