#pragma once
// Settings of the process. The table is settings.inc; accel.config and the documentation are made from it.
//
// Reading is one relaxed atomic load, from any thread. Values come from the environment when the process starts and
// from set_setting afterwards.

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

namespace accel {

enum class LogTopic : int {
#define LOG_TOPIC(name, doc) name,
#include "base/settings.inc"
};

enum class SettingType { boolean, integer, number, text, words };

using SettingValue = std::variant<bool, int64_t, double, std::string, std::vector<std::string>>;  // order of SettingType

struct SettingInfo {
  const char* name;
  SettingType type;
  const char* default_text;
  const char* env;      // environment variable or null
  const char* allowed;  // see settings.inc
  const char* doc;
};

struct LogTopicInfo {
  const char* name;
  const char* doc;
};

template <class T>
class Setting {
 public:
  T get() const { return value_.load(std::memory_order_relaxed); }
  operator T() const { return get(); }
  void set(T value) { value_.store(value, std::memory_order_relaxed); }

 private:
  std::atomic<T> value_{};
};

// A string or list of strings. A value once read stays valid for ever (old values are never freed), so readers take no lock and
// a fork in the middle of set() does no harm.
template <class T>
class LargeSetting {
 public:
  const T& get() const { return value_.load(std::memory_order_acquire)->value; }
  void set(T value) {
    Node* node = new Node{std::move(value), value_.load(std::memory_order_acquire)};
    while (!value_.compare_exchange_weak(node->previous, node, std::memory_order_acq_rel)) {
    }
  }

 private:
  struct Node {
    T value;
    Node* previous;
  };
  std::atomic<Node*> value_{new Node{T{}, nullptr}};
};

// What holds a setting of each SettingType, in its order.
using SettingCells = std::tuple<Setting<bool>, Setting<int64_t>, Setting<double>, LargeSetting<std::string>,
                                LargeSetting<std::vector<std::string>>>;
template <SettingType type>
using SettingCell = std::tuple_element_t<static_cast<size_t>(type), SettingCells>;

struct Settings {
#define SETTING(name, type_, default, env, allowed, doc) SettingCell<SettingType::type_> name;
#include "base/settings.inc"
};

// settings().threads.get(), settings().dump_dir.get(), ...
Settings& settings();

std::span<const SettingInfo> setting_infos();
std::span<const LogTopicInfo> log_topics();
bool log_enabled(LogTopic topic);

// Null when there is no such setting.
const SettingInfo* find_setting(std::string_view name);

// By name, for the Python binding. Requires find_setting(name).
SettingValue get_setting(std::string_view name);
// Returns what is wrong with the value, or nothing when it was set. An integer is accepted where a number is expected.
[[nodiscard]] std::optional<std::string> set_setting(std::string_view name, SettingValue value);
// Sets a setting from text, as in an environment variable: "1"/"true"/"yes"/"on" and their opposites, "a,b" for words.
[[nodiscard]] std::optional<std::string> set_setting_from_text(std::string_view name, std::string_view text);

// Environment variables that were ignored, one line each ("ACCEL_STRESS_EXITS=x: expected an integer").
const std::vector<std::string>& setting_problems();

}  // namespace accel
