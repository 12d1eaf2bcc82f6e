#include "emulator.h"

namespace emulated {
namespace {

std::mutex report_mutex;

}  // namespace

Emulator& emulator() {
  static auto* instance = new Emulator;
  return *instance;
}

int say(int code, std::string what) {
  std::lock_guard lock(report_mutex);  // blocks may fail on several threads at a time
  emulator().report = std::move(what);
  return emulator().said_code = code;
}

long* Options::find(const std::string& name) {
  const std::map<std::string, long*> all{{"order", &order}, {"seed", &seed},   {"workers", &workers}, {"hide", &hide},
                                         {"eager", &eager}, {"limit", &limit}, {"devices", &devices}, {"keep", &keep}};
  auto at = all.find(name);
  return at == all.end() ? nullptr : at->second;
}

}  // namespace emulated
