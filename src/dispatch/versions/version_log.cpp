#include "dispatch/versions/version_log.h"

#include <cstdio>

namespace accel {
namespace {

std::string milliseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f ms", seconds * 1e3);
  return text;
}

void log_guards(const std::string& function, const Entry& entry) {
  std::string text = function + ": guards of a new version";
  for (const Guard& guard : entry.captured().guards.guards) text += "\n  " + guard.text;
  log_record(LogTopic::guards, text);
}

// Logs passes or steps of the schedule.
void log_steps(LogTopic topic, const std::string& function, const char* kind, const std::vector<StepRecord>& steps) {
  for (const StepRecord& step : steps) {
    std::string text = function + kind + step.name + ", " + milliseconds(step.seconds);
    if (step.changed && !step.text.empty()) text += "\n" + step.text;
    log_record(topic, text);
  }
}

void log_cache(const std::string& function, const CompiledKernel& kernel) {
  std::string text = kernel.from_cache() ? ": hit" : ": miss, compiled in " + milliseconds(kernel.compile_seconds());
  log_record(LogTopic::cache, function + text);
}

}  // namespace

void log_version(const std::string& function, const Entry& entry) {
  if (log_enabled(LogTopic::capture)) log_record(LogTopic::capture, function + entry.captured().trace);
  if (log_enabled(LogTopic::guards)) log_guards(function, entry);
  const Compilation* compilation = entry.compilation();
  if (compilation == nullptr) return;
  if (log_enabled(LogTopic::passes)) log_steps(LogTopic::passes, function, ": pass ", compilation->passes);
  if (log_enabled(LogTopic::schedule)) log_steps(LogTopic::schedule, function, ": step ", compilation->steps);
  if (log_enabled(LogTopic::output_code)) log_record(LogTopic::output_code, function + "\n" + compilation->source);
  if (log_enabled(LogTopic::cache)) log_cache(function, *compilation->kernel);
}

}  // namespace accel
