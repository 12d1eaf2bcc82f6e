#include <chrono>
#include <thread>

#include "toolchain/doctor/doctor.h"
#include "toolchain/host/compiler.h"
#include "toolchain_fixture.h"

namespace accel {
namespace {

class CompilerTest : public ToolchainTest {
 protected:
  // Compiles with a fake compiler; returns the failure.
  Failure fail_with(const std::string& compiler) {
    set("compiler", compiler);
    auto result = compile_kernel(kernel(1));
    EXPECT_FALSE(result.ok());
    return result.ok() ? Failure{} : result.failure();
  }
};

TEST_F(CompilerTest, CompilesAndRuns) {
  bool from_cache = true;
  EXPECT_EQ(run(kernel(7), &from_cache), 7);
  EXPECT_FALSE(from_cache);
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(CompilerTest, KernelsOfEqualDescriptorNumbersStayApart) {
  std::vector<std::shared_ptr<const CompiledKernel>> kept;
  for (int answer = 0; answer < 5; answer++) {
    auto compiled = compile_kernel(kernel(answer));
    ASSERT_TRUE(compiled.ok());
    kept.push_back(*compiled);
  }
  for (int answer = 0; answer < 5; answer++) EXPECT_EQ(kept[answer]->entry()(nullptr), answer);
}

TEST_F(CompilerTest, KernelsMayCallMathAndCompilerFunctions) {
  KernelSource source{R"(
    extern "C" double fmod(double, double);
    extern "C" int accel_kernel(const void*) {
      volatile double x = 7.5;
      volatile __int128 wide = (__int128)1 << 100, part = 3;
      volatile unsigned char bytes[300];
      for (int i = 0; i < 300; i++) bytes[i] = 5;
      return (int)(fmod(x, 2.0) * 2) + (int)((wide / part) >> 97) + bytes[299];
    })",
                      {}};
  EXPECT_EQ(run(source), 3 + 2 + 5);
}

TEST_F(CompilerTest, ErrorOfTheSourceIsToldInOneLine) {
  auto result = compile_kernel({"extern \"C\" int accel_kernel(const void*) { return no_such_name; }", {}});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().reason, Reason::compiler_failed);
  EXPECT_NE(result.failure().detail.find("no_such_name"), std::string::npos);
  EXPECT_EQ(result.failure().detail.find('\n'), std::string::npos);
  ASSERT_EQ(warnings_.size(), 1u);
  (void)compile_kernel({"also wrong", {}});
  EXPECT_EQ(warnings_.size(), 1u);  // each kind once
}

TEST_F(CompilerTest, UnresolvedSymbolIsALoadFailureAndNotCached) {
  auto result =
      compile_kernel({"extern \"C\" int nowhere(); extern \"C\" int accel_kernel(const void*) { return nowhere(); }", {}});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().reason, Reason::load_failed);
  EXPECT_TRUE(entries().empty());
}

TEST_F(CompilerTest, NoCompilerAnywhere) {
  setenv("PATH", "", 1);
  auto result = compile_kernel(kernel(1));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().reason, Reason::no_compiler);
  EXPECT_EQ(fail_with("/nowhere/c++").reason, Reason::no_compiler);
}

TEST_F(CompilerTest, CompilerGivenByPathWorksWithAnEmptyPath) {
  auto compiler = find_compiler();
  ASSERT_TRUE(compiler.ok());
  setenv("PATH", "", 1);
  set("compiler", compiler->command[0] + " -DUNUSED=1");
  EXPECT_EQ(run(kernel(3)), 3);
}

TEST_F(CompilerTest, FallsBackToClangName) {
  std::string real = find_compiler()->command[0];
  std::filesystem::create_symlink(real, folder_.path() + "/clang++");
  setenv("PATH", folder_.path().c_str(), 1);
  auto compiler = find_compiler();
  ASSERT_TRUE(compiler.ok());
  EXPECT_EQ(compiler->command[0], folder_.path() + "/clang++");
}

TEST_F(CompilerTest, FailingCompiler) {
  auto failure = fail_with(script("echo 'fatal error: out of luck' >&2; exit 3"));
  EXPECT_EQ(failure.reason, Reason::compiler_failed);
  EXPECT_NE(failure.detail.find("out of luck"), std::string::npos);
  EXPECT_NE(failure.detail.find("status 3"), std::string::npos);
}

TEST_F(CompilerTest, CompilerKilledBySignal) {
  auto failure = fail_with(script("kill -9 $$"));
  EXPECT_EQ(failure.reason, Reason::compiler_failed);
  EXPECT_NE(failure.detail.find("signal 9"), std::string::npos);
}

TEST_F(CompilerTest, CompilerThatWritesNothingOrNonsense) {
  EXPECT_EQ(fail_with(script("exit 0")).reason, Reason::compiler_failed);
  std::string find_output = "while [ \"$1\" != -o ]; do shift; done; ";
  EXPECT_EQ(fail_with(script(find_output + "echo nonsense > $2")).reason, Reason::compiler_failed);
  EXPECT_EQ(fail_with(script(find_output + "printf '\\177ELFnonsense' > $2")).reason, Reason::load_failed);
  EXPECT_TRUE(entries().empty());
}

TEST_F(CompilerTest, HangingCompilerIsStoppedWithItsChildren) {
  set("compile_timeout", 0.3);
  std::string mark = folder_.path() + "/mark";
  auto start = std::chrono::steady_clock::now();
  auto failure = fail_with(script("(sleep 1; touch " + mark + ") & sleep 60"));
  EXPECT_EQ(failure.reason, Reason::compiler_timeout);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  EXPECT_FALSE(std::filesystem::exists(mark));
}

TEST_F(CompilerTest, CompilerThatClosesItsOutputAndHangs) {
  set("compile_timeout", 0.3);
  EXPECT_EQ(fail_with(script("exec >&- 2>&-; sleep 60")).reason, Reason::compiler_timeout);
}

TEST_F(CompilerTest, MuchOutputDoesNotBlock) {
  auto failure = fail_with(script("i=0; while [ $i -lt 20000 ]; do echo 'error: again and again'; i=$((i+1)); done; exit 1"));
  EXPECT_EQ(failure.reason, Reason::compiler_failed);
  EXPECT_LT(failure.detail.size(), 2000u);
}

TEST_F(CompilerTest, ExitStatusCollectedBySomebodyElse) {
  signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(run(kernel(11)), 11);
  signal(SIGCHLD, SIG_DFL);
}

TEST_F(CompilerTest, ExtraFlagsReachTheCompiler) {
  set("extra_flags", std::string("-DANSWER=5 -DBONUS=1"));
  EXPECT_EQ(run({"extern \"C\" int accel_kernel(const void*) { return ANSWER + BONUS; }", {}}), 6);
}

TEST_F(CompilerTest, DumpsSourceAndObject) {
  set("dump_dir", folder_.path() + "/dump/deep");
  EXPECT_EQ(run(kernel(12)), 12);
  int sources = 0, objects = 0;
  for (const auto& item : std::filesystem::directory_iterator(folder_.path() + "/dump/deep")) {
    sources += item.path().extension() == ".cpp";
    objects += item.path().extension() == ".so";
  }
  EXPECT_EQ(sources, 1);
  EXPECT_EQ(objects, 1);
  set("dump_dir", std::string("/proc/nowhere"));
  EXPECT_EQ(run(kernel(13)), 13);
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_EQ(warnings_[0].first, Reason::dump_failed);
}

// Temporary folders that hold the source of the kernel with this answer.
int leftovers(int answer) {
  using std::filesystem::directory_iterator;
  int found = 0;
  std::error_code gone;
  for (const char* root : {"/dev/shm", "/tmp"})
    for (const auto& item : directory_iterator(root, std::filesystem::directory_options::skip_permission_denied, gone))
      found += read_file(item.path().string() + "/kernel.cpp").value_or("").find(std::to_string(answer)) != std::string::npos;
  return found;
}

TEST_F(CompilerTest, LeavesNoTemporaryFiles) {
  int answer = 1'000'000 + getpid();
  EXPECT_EQ(run(kernel(answer)), answer);
  EXPECT_EQ(leftovers(answer), 0);
  set("compile_timeout", 0.2);
  set("compiler", script("sleep 60"));
  answer += 1'000'000;
  EXPECT_FALSE(compile_kernel(kernel(answer)).ok());
  EXPECT_EQ(leftovers(answer), 0);
}

TEST_F(CompilerTest, DoctorOfAHealthyMachine) {
  auto report = examine();
  EXPECT_TRUE(report.compiler.works) << report.compiler.problem;
  EXPECT_FALSE(report.compiler.path.empty());
  EXPECT_FALSE(report.compiler.version.empty());
  EXPECT_TRUE(report.cache.problem.empty());
  EXPECT_EQ(report.cache.path, cache_);
  EXPECT_GT(report.memory_bytes, 0);
  EXPECT_GE(report.available_cpus, 1);
  EXPECT_FALSE(report.cpu_model.empty());
}

TEST_F(CompilerTest, DoctorNamesTheWayOut) {
  setenv("PATH", "", 1);
  set("cache_dir", std::string("/proc/nowhere"));
  auto report = examine();
  EXPECT_FALSE(report.compiler.works);
  EXPECT_NE(report.compiler.way_out.find("g++"), std::string::npos);
  EXPECT_FALSE(report.cache.problem.empty());
  EXPECT_NE(report.cache_way_out.find("ACCEL_CACHE_DIR"), std::string::npos);
}

}  // namespace
}  // namespace accel
