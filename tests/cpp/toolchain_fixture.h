#pragma once
// A cache folder and settings of the test's own.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "base/settings.h"
#include "toolchain/compiled_kernel.h"
#include "toolchain/files.h"
#include "toolchain/toolchain.h"

namespace accel {

class ToolchainTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = std::getenv("PATH") ? std::getenv("PATH") : "";
    reset_warnings();
    set_warning_sink([this](Reason reason, std::string detail) { warnings_.emplace_back(reason, detail); });
    cache_ = folder_.path() + "/cache";
    set("cache_dir", cache_);
    set("compiler", std::string());
  }

  void TearDown() override {
    setenv("PATH", path_.c_str(), 1);
    set_warning_sink(nullptr);
    for (const auto& info : setting_infos()) (void)set_setting_from_text(info.name, info.default_text);
    std::error_code ignored;
    for (const auto& item : std::filesystem::directory_iterator(folder_.path())) std::filesystem::remove_all(item, ignored);
  }

  static void set(const char* name, SettingValue value) { ASSERT_EQ(set_setting(name, std::move(value)), std::nullopt); }

  // A kernel that returns `answer`.
  static KernelSource kernel(int answer) {
    return {"extern \"C\" int accel_kernel(const void*) { return " + std::to_string(answer) + "; }\n", {}};
  }

  // Compiles or loads; -1 and a failed check when that does not work.
  static int run(const KernelSource& source, bool* from_cache = nullptr) {
    auto compiled = compile_kernel(source);
    EXPECT_TRUE(compiled.ok()) << (compiled.ok() ? "" : compiled.failure().detail);
    if (!compiled.ok()) return -1;
    if (from_cache) *from_cache = (*compiled)->from_cache();
    return (*compiled)->entry()(nullptr);
  }

  // An executable shell script that stands for a compiler.
  std::string script(const std::string& body) {
    std::string path = folder_.path() + "/fake++";
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    chmod(path.c_str(), 0755);
    return path;
  }

  std::vector<std::string> entries() const {
    std::vector<std::string> found;
    for (const auto& item : std::filesystem::directory_iterator(cache_))
      if (item.path().extension() == ".kernel") found.push_back(item.path());
    return found;
  }

  // Exit status of `body`, run in a forked child.
  static int in_child(const std::function<int()>& body) {
    pid_t pid = fork();
    if (pid == 0) _exit(body());
    int status = -1;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  TemporaryFolder folder_;
  std::string cache_;
  std::vector<std::pair<Reason, std::string>> warnings_;

 private:
  std::string path_;
};

}  // namespace accel
