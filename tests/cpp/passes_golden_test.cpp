// Golden texts: tests/golden/ir/<subject>/*.ir hold an input, a line "---" and what the subject makes of it. A subject is a
// pass, or one of the functions in `subjects`. ACCEL_BLESS=1 rewrites the expectations.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "ir/analysis/reduction_plan.h"
#include "ir/analysis/verifier.h"
#include "ir/text/text.h"
#include "passes/passes.h"

namespace accel {
namespace {

namespace fs = std::filesystem;

std::string joined(const std::vector<int>& axes) {
  std::string out;
  for (int axis : axes) out += (out.empty() ? "" : ", ") + std::to_string(axis);
  return "[" + out + "]";
}

std::string plan_text(Graph& graph, const Node& node) {
  ReductionPlan plan = reduction_plan(graph.dims, graph, node);
  auto cut = [&](Dim d) { return d.id < 0 ? std::string("none") : graph.dims.text(d); };
  auto guarded = axes_specialised_on_one(graph.dims, graph, node);
  return "outer " + joined(plan.outer_axes) + "\nrun " + joined(plan.run_axes) + "\npairwise " +
         (plan.pairwise ? "yes" : "no") + "\nblock " + cut(plan.block) + "\nchunk " + cut(plan.chunk) + "\nbuffer_chunk " +
         std::to_string(plan.buffer_chunk) + "\nknown " + (plan.known ? "yes" : "no") + "\nspecialised_on_one " +
         joined(guarded) + "\n";
}

std::string plans(Graph& graph) {
  std::string out;
  for (NodeId n : graph.entry().nodes) {
    const Node& node = graph.nodes[static_cast<size_t>(n)];
    if (node.op == Op::reduce) out += plan_text(graph, node);
  }
  return out;
}

std::string verdict(Graph& graph) {
  Status status = verify(graph);
  return (status.ok() ? "valid" : status.failure().detail) + "\n";
}

const std::map<std::string, std::function<std::string(Graph&)>> subjects = {
    {"text", print_graph},
    {"verifier", verdict},
    {"reduction_plan", plans},
};

std::string run_pass(const std::string& name, Graph& graph) {
  for (const Pass& pass : passes()) {
    if (name != pass.name) continue;
    pass.run(graph);
    Status status = verify(graph);
    return status.ok() ? print_graph(graph) : status.failure().detail + "\n";
  }
  return "no such subject\n";
}

std::string answer(const std::string& subject, const std::string& input) {
  Result<Graph> graph = parse_graph(input);
  if (!graph.ok()) return graph.failure().detail + "\n";
  if (subject != "verifier") {
    Status status = verify(*graph);
    if (!status.ok()) return status.failure().detail + "\n";
  }
  auto it = subjects.find(subject);
  return it == subjects.end() ? run_pass(subject, *graph) : it->second(*graph);
}

std::vector<fs::path> golden_files() {
  std::vector<fs::path> out;
  for (const auto& entry : fs::recursive_directory_iterator(ACCEL_TEST_DATA)) {
    if (entry.path().extension() == ".ir") out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

class Golden : public testing::TestWithParam<fs::path> {};

TEST_P(Golden, Matches) {
  std::stringstream content;
  content << std::ifstream(GetParam()).rdbuf();
  std::string text = content.str();
  size_t line = text.find("---\n");
  std::string input = text.substr(0, line);
  std::string expected = line == std::string::npos ? "" : text.substr(line + 4);
  std::string actual = answer(GetParam().parent_path().filename(), input);
  if (std::getenv("ACCEL_BLESS")) {
    std::ofstream(GetParam()) << input << "---\n" << actual;
  } else {
    EXPECT_EQ(actual, expected) << "in " << GetParam();
  }
  Result<Graph> back = parse_graph(actual);
  if (back.ok()) {
    EXPECT_EQ(print_graph(*back), actual);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Golden, testing::ValuesIn(golden_files()), [](const auto& info) {
  std::string name = info.param.parent_path().filename().string() + "_" + info.param.stem().string();
  std::replace_if(name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
});

TEST(Runner, StopsAfterNPasses) {
  Result<Graph> graph = parse_graph("graph {\n b0:\n %0 = dim() {dims = [4]} : py_scalar int64\n ret(%0) }");
  ASSERT_TRUE(graph.ok()) << graph.failure().detail;
  StepOptions options{.stop_after = 1, .keep_text = true};
  auto records = run_passes(*graph, options);
  ASSERT_TRUE(records.ok());
  ASSERT_EQ(records->size(), 1u);
  EXPECT_TRUE((*records)[0].changed);
  EXPECT_NE((*records)[0].text.find("literal = 4"), std::string::npos);
}

}  // namespace
}  // namespace accel
