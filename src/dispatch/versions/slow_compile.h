#pragma once
// SlowCompile: reports once that a compile takes long, and what is large about the function; during the compile if possible.

#include <Python.h>

#include <chrono>
#include <string>

#include "capture/product/captured.h"
#include "compile.h"

namespace accel {

// All functions but observe() require the GIL.
class SlowCompile {
 public:
  // `function`: name and place of the function.
  explicit SlowCompile(std::string function) : function_(std::move(function)) {}
  ~SlowCompile() { end(nullptr); }
  SlowCompile(const SlowCompile&) = delete;
  SlowCompile& operator=(const SlowCompile&) = delete;

  // Called when capture is done and the compile starts. `captured` outlives the compile.
  void begin(const Captured& captured);
  // `compilation`: null when there is none.
  void end(const Compilation* compilation);

  std::chrono::steady_clock::time_point start() const { return start_; }

  // Called regularly by a thread that waits for the compiler, without the GIL.
  static void observe();

 private:
  bool is_due() const;
  void say(const std::string& rest);

  std::string function_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const Captured* captured_ = nullptr;  // set during the compile
  SlowCompile* outer_ = nullptr;        // the enclosing compile of this thread
  bool has_said_ = false;
};

}  // namespace accel
