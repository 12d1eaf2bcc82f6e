#include "base/settings.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace accel {
namespace {

// The allowed words of `logs`, from the LOG_TOPIC rows: each name with a comma in front.
#define LOG_TOPIC(name, doc) "," #name
constexpr char log_topic_names[] =
#include "base/settings.inc"
    ;
#define ACCEL_LOG_TOPICS (log_topic_names + 1)

const SettingInfo infos[] = {
#define SETTING(name, type, default, env, allowed, doc) {#name, SettingType::type, default, env, allowed, doc},
#include "base/settings.inc"
};

constexpr LogTopicInfo topics[] = {
#define LOG_TOPIC(name, doc) {#name, doc},
#include "base/settings.inc"
};

constexpr const char* type_names[] = {"true or false", "an integer", "a number", "a string", "a list of words"};

std::atomic<uint64_t> enabled_topics{0};

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    size_t end = std::min(text.find_first_of(", "), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<bool> parse_bool(std::string_view text) {
  for (auto word : {"1", "true", "yes", "on", "True"})
    if (text == word) return true;
  for (auto word : {"", "0", "false", "no", "off", "False"})
    if (text == word) return false;
  return std::nullopt;
}

template <class T>
std::optional<SettingValue> boxed(std::optional<T> value) {
  if (!value) return std::nullopt;
  return SettingValue(*value);
}

std::optional<SettingValue> parse(SettingType type, std::string_view text) {
  switch (type) {
    case SettingType::boolean:
      return boxed(parse_bool(text));
    case SettingType::integer:
      return boxed(parse_number<int64_t>(text));
    case SettingType::number:
      return boxed(parse_number<double>(text));
    case SettingType::text:
      return SettingValue(std::string(text));
    case SettingType::words:
      return SettingValue(split_words(text));
  }
  return std::nullopt;
}

bool in_range(double value, std::string_view allowed) {
  size_t dots = allowed.find("..");
  if (dots == allowed.npos) return true;
  auto low = parse_number<double>(allowed.substr(0, dots)), high = parse_number<double>(allowed.substr(dots + 2));
  return !(low && !(value >= *low)) && !(high && !(value <= *high));
}

std::optional<std::string> check_words(const std::vector<std::string>& words, const char* allowed) {
  auto choices = split_words(allowed);
  if (choices.empty()) return std::nullopt;
  for (const auto& word : words)
    if (std::find(choices.begin(), choices.end(), word) == choices.end())
      return "unknown word '" + word + "'; allowed are " + allowed;
  return std::nullopt;
}

std::optional<std::string> check(const SettingInfo& info, const SettingValue& value) {
  if (static_cast<int>(value.index()) != static_cast<int>(info.type))
    return std::string("expected ") + type_names[static_cast<int>(info.type)];
  if (auto* words = std::get_if<std::vector<std::string>>(&value)) return check_words(*words, info.allowed);
  bool fits = true;
  if (auto* integer = std::get_if<int64_t>(&value)) fits = in_range(static_cast<double>(*integer), info.allowed);
  if (auto* number = std::get_if<double>(&value)) fits = in_range(*number, info.allowed);
  if (!fits) return std::string("expected a value in ") + info.allowed;
  return std::nullopt;
}

void refresh_topics(const std::vector<std::string>& words) {
  uint64_t bits = 0;
  for (size_t i = 0; i < std::size(topics); i++)
    if (std::find(words.begin(), words.end(), topics[i].name) != words.end()) bits |= uint64_t{1} << i;
  enabled_topics.store(bits, std::memory_order_relaxed);
}

// Requires check() to have passed.
void assign(Settings& target, std::string_view name, SettingValue value) {
#define SETTING(field, type, default, env, allowed, doc) \
  if (name == #field) target.field.set(std::get<static_cast<size_t>(SettingType::type)>(std::move(value)));
#include "base/settings.inc"
  if (name == "logs") refresh_topics(target.logs.get());
}

std::optional<std::string> assign_text(Settings& target, const SettingInfo& info, std::string_view text) {
  auto value = parse(info.type, text);
  if (!value) return std::string("expected ") + type_names[static_cast<int>(info.type)];
  if (auto problem = check(info, *value)) return problem;
  assign(target, info.name, std::move(*value));
  return std::nullopt;
}

struct Loaded {
  Settings values;
  std::vector<std::string> problems;

  Loaded() {
    for (const auto& info : infos) {
      (void)assign_text(values, info, info.default_text);
      const char* text = info.env ? std::getenv(info.env) : nullptr;
      if (!text) continue;
      if (auto problem = assign_text(values, info, text))
        problems.push_back(std::string(info.env) + "=" + text + ": " + *problem);
    }
  }
};

Loaded& loaded() {
  static Loaded* instance = new Loaded;  // never destroyed: kernels may run during exit
  return *instance;
}

}  // namespace

Settings& settings() { return loaded().values; }
const std::vector<std::string>& setting_problems() { return loaded().problems; }
std::span<const SettingInfo> setting_infos() { return infos; }
std::span<const LogTopicInfo> log_topics() { return topics; }

bool log_enabled(LogTopic topic) {
  settings();
  return enabled_topics.load(std::memory_order_relaxed) >> static_cast<int>(topic) & 1;
}

const SettingInfo* find_setting(std::string_view name) {
  for (const auto& info : infos)
    if (name == info.name) return &info;
  return nullptr;
}

SettingValue get_setting(std::string_view name) {
#define SETTING(field, type, default, env, allowed, doc) \
  if (name == #field) return SettingValue(std::in_place_index<static_cast<size_t>(SettingType::type)>, settings().field.get());
#include "base/settings.inc"
  return {};
}

std::optional<std::string> set_setting(std::string_view name, SettingValue value) {
  const SettingInfo* info = find_setting(name);
  if (!info) return "there is no setting '" + std::string(name) + "'";
  if (auto* integer = std::get_if<int64_t>(&value); integer && info->type == SettingType::number)
    value = static_cast<double>(*integer);
  if (auto problem = check(*info, value)) return problem;
  assign(settings(), name, std::move(value));
  return std::nullopt;
}

std::optional<std::string> set_setting_from_text(std::string_view name, std::string_view text) {
  const SettingInfo* info = find_setting(name);
  if (!info) return "there is no setting '" + std::string(name) + "'";
  return assign_text(settings(), *info, text);
}

}  // namespace accel
