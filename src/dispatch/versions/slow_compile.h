#pragma once
// SlowCompile: says once that a compile takes long, and what is large about the function: while it goes on if it can.

#include <Python.h>

#include <chrono>
#include <string>

#include "capture/product/captured.h"
#include "compile.h"

namespace accel {

// All but observe() require the GIL.
class SlowCompile {
 public:
  // `function`: its name and place.
  explicit SlowCompile(std::string function) : function_(std::move(function)) {}
  ~SlowCompile() { end(nullptr); }
  SlowCompile(const SlowCompile&) = delete;
  SlowCompile& operator=(const SlowCompile&) = delete;

  // What is to be compiled has been captured. It outlives the compile.
  void begin(const Captured& captured);
  // `compilation`: null when there is none.
  void end(const Compilation* compilation);

  std::chrono::steady_clock::time_point start() const { return start_; }

  // To be called now and then by a thread that waits for the compiler, without the GIL.
  static void observe();

 private:
  bool is_due() const;
  void say(const std::string& rest);

  std::string function_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const Captured* captured_ = nullptr;  // while it is compiled
  SlowCompile* outer_ = nullptr;        // that this thread compiles meanwhile
  bool has_said_ = false;
};

}  // namespace accel
