#include "faults.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "emulator.h"

namespace emulated {
namespace {

struct PlannedFailure {
  std::string function;
  long at;  // number of the call
  int code;
  bool is_sticky;
};

std::map<std::string, long> calls;
std::vector<PlannedFailure> planned;

void read_item(const std::string& item) {
  char function[64];
  long nth = 1, value = 0;
  int code = 0, is_sticky = 0;
  if (std::sscanf(item.c_str(), "fail:%63[^:]:%ld:%d:%d", function, &nth, &code, &is_sticky) >= 3) {
    fail_call(function, nth, code, is_sticky != 0);
  } else if (std::sscanf(item.c_str(), "%63[^=]=%ld", function, &value) == 2 && emulator().options.find(function)) {
    *emulator().options.find(function) = value;
  } else if (!item.empty()) {
    std::fprintf(stderr, "ACCEL_EMULATE: %s means nothing\n", item.c_str());
  }
}

}  // namespace

int enter(const char* function) {
  auto& e = emulator();
  long number = ++calls[function];
  for (const auto& failure : planned) {
    if (failure.function != function || failure.at != number) continue;
    if (failure.is_sticky) e.sticky = failure.code;
    return say(failure.code, std::string("injected into ") + function);
  }
  return e.sticky;
}

void fail_call(const std::string& function, long nth, int code, bool is_sticky) {
  planned.push_back({function, calls[function] + nth, code, is_sticky});
}

void fail_no_calls() { planned.clear(); }

long calls_of(const std::string& function) { return calls[function]; }

void read_environment() {
  const char* text = std::getenv("ACCEL_EMULATE");
  std::istringstream items(text ? text : "");
  for (std::string item; std::getline(items, item, ',');) read_item(item);
  emulator().random.seed(static_cast<unsigned>(emulator().options.seed));
}

}  // namespace emulated
