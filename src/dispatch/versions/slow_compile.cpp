#include "dispatch/versions/slow_compile.h"

#include <cstdio>
#include <utility>

#include "base/settings.h"
#include "dispatch/reports/python_errors.h"
#include "dispatch/signals/interrupt.h"

namespace accel {
namespace {

// The innermost compile of this thread.
thread_local SlowCompile* going_on = nullptr;

std::string counted(size_t count, const char* what) { return std::to_string(count) + " " + what; }

// The sizes that make a compile long, as text.
std::string sizes_of(const Captured& captured) {
  size_t stores = 0;
  for (const Exit& exit : captured.exits) stores += exit.stores.size();
  std::string text = counted(captured.graph.nodes.size(), "operations");
  if (captured.graph.blocks.size() > 1) text += ", " + counted(captured.graph.blocks.size(), "blocks");
  if (captured.exits.size() > 1) text += ", " + counted(captured.exits.size(), "exits to the interpreter");
  if (stores > 0) text += " that store " + counted(stores, "attributes and items");
  if (!captured.calls.empty()) text += ", " + counted(captured.calls.size(), "calls into Python");
  return text;
}

}  // namespace

void SlowCompile::begin(const Captured& captured) {
  captured_ = &captured;
  outer_ = std::exchange(going_on, this);
  if (is_due()) say({});
}

void SlowCompile::end(const Compilation* compilation) {
  if (captured_ == nullptr) return;
  going_on = outer_;
  if (is_due()) say(compilation != nullptr ? ", " + counted(compilation->source.size() / 1000, "kB of C++") : std::string());
  captured_ = nullptr;
}

void SlowCompile::observe() {
  SlowCompile* compile = going_on;
  if (compile == nullptr || !compile->is_due()) return;
  PythonScope python;
  PyGILState_STATE state = PyGILState_Ensure();  // a signal handler, which has no scope, may run a compiler, too
  compile->say({});
  PyGILState_Release(state);
}

bool SlowCompile::is_due() const {
  double limit = settings().slow_compile.get();
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  return !has_said_ && limit > 0 && seconds >= limit;
}

void SlowCompile::say(const std::string& rest) {
  has_said_ = true;
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  char time[32];
  std::snprintf(time, sizeof time, "%.1f s", seconds);
  say_slow("compiling " + function_ + " has taken " + time + ": " + sizes_of(*captured_) + rest);
}

}  // namespace accel
