#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "base/settings.h"

namespace accel {
namespace {

TEST(Settings, DefaultsComeFromTheTable) {
  for (const auto& info : setting_infos()) {
    ASSERT_NE(find_setting(info.name), nullptr);
    EXPECT_EQ(get_setting(info.name).index(), static_cast<size_t>(info.type)) << info.name;
    EXPECT_GT(std::string(info.doc).size(), 10u) << info.name;
    EXPECT_EQ(std::string(info.doc).back(), '.') << info.name;
  }
  EXPECT_EQ(settings().recompile_limit.get(), 8);
  EXPECT_EQ(settings().compile_timeout.get(), 60.0);
}

TEST(Settings, SetAndGetByName) {
  EXPECT_FALSE(set_setting("threads", int64_t{3}));
  EXPECT_EQ(settings().threads.get(), 3);
  EXPECT_EQ(get_setting("threads"), SettingValue(int64_t{3}));
  EXPECT_FALSE(set_setting("threads", int64_t{0}));
  EXPECT_FALSE(set_setting("compile_timeout", int64_t{5}));
  EXPECT_EQ(settings().compile_timeout.get(), 5.0);
  EXPECT_FALSE(set_setting("compile_timeout", 60.0));
  EXPECT_FALSE(set_setting("dump_dir", std::string("here")));
  const std::string& before = settings().dump_dir.get();
  EXPECT_FALSE(set_setting("dump_dir", std::string()));
  EXPECT_EQ(before, "here");  // a value once read stays valid
}

TEST(Settings, RejectsWrongNamesTypesAndRanges) {
  EXPECT_TRUE(set_setting("no_such_setting", true));
  EXPECT_TRUE(set_setting("threads", true));
  EXPECT_TRUE(set_setting("threads", std::string("4")));
  EXPECT_TRUE(set_setting("threads", int64_t{-1}));
  EXPECT_TRUE(set_setting("strict", int64_t{1}));
  EXPECT_TRUE(set_setting("logs", std::vector<std::string>{"nonsense"}));
  EXPECT_TRUE(set_setting("compile_timeout", 0.0 / 0.0));
  EXPECT_EQ(settings().threads.get(), 0);
}

TEST(Settings, ParsesText) {
  EXPECT_FALSE(set_setting_from_text("strict", "yes"));
  EXPECT_TRUE(settings().strict.get());
  EXPECT_FALSE(set_setting_from_text("strict", "0"));
  EXPECT_TRUE(set_setting_from_text("strict", "perhaps"));
  EXPECT_TRUE(set_setting_from_text("threads", "4x"));
  EXPECT_FALSE(set_setting_from_text("result_pool_bytes", "-1"));
}

TEST(Settings, LogTopics) {
  EXPECT_FALSE(set_setting_from_text("logs", "passes, cache"));
  EXPECT_TRUE(log_enabled(LogTopic::passes));
  EXPECT_TRUE(log_enabled(LogTopic::cache));
  EXPECT_FALSE(log_enabled(LogTopic::capture));
  EXPECT_FALSE(set_setting_from_text("logs", ""));
  EXPECT_FALSE(log_enabled(LogTopic::passes));
  EXPECT_STREQ(log_topics()[static_cast<int>(LogTopic::output_code)].name, "output_code");
}

// Settings are read when the process first asks for one, so the environment needs a new process: this binary again.
TEST(Settings, ReadsTheEnvironment) {
  if (std::getenv("SETTINGS_TEST_CHILD")) {
    EXPECT_TRUE(settings().disable.get());
    EXPECT_EQ(settings().compiler.get(), "fake++ -x");
    EXPECT_TRUE(log_enabled(LogTopic::guards));
    EXPECT_EQ(settings().stress_exits.get(), 0);
    ASSERT_EQ(setting_problems().size(), 1u);
    EXPECT_NE(setting_problems()[0].find("ACCEL_STRESS_EXITS=many"), std::string::npos);
    return;
  }
  pid_t pid = fork();
  if (pid == 0) {
    setenv("SETTINGS_TEST_CHILD", "1", 1);
    setenv("ACCEL_DISABLE", "1", 1);
    setenv("CXX", "fake++ -x", 1);
    setenv("ACCEL_LOGS", "guards", 1);
    setenv("ACCEL_STRESS_EXITS", "many", 1);
    execl("/proc/self/exe", "settings_test", "--gtest_filter=Settings.ReadsTheEnvironment", nullptr);
    _exit(127);
  }
  int status = -1;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace accel
