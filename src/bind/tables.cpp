// Settings, reason codes and log topics.

#include "bind/bind.h"
#include "bind/convert.h"

namespace accel {
namespace {

constexpr const char* type_names[] = {"boolean", "integer", "number", "text", "words"};  // order of SettingType

py::list settings_table() {
  py::list table;
  for (const SettingInfo& info : setting_infos()) {
    py::dict row;
    row["name"] = info.name;
    row["type"] = type_names[static_cast<int>(info.type)];
    row["default"] = info.default_text;
    row["env"] = info.env != nullptr ? py::object(py::str(info.env)) : py::object(py::none());
    row["allowed"] = info.allowed;
    row["doc"] = info.doc;
    table.append(row);
  }
  return table;
}

py::list reasons_table() {
  py::list table;
  for (int i = 0; i < reason_count(); i++) {
    const ReasonInfo& info = reason_info(static_cast<Reason>(i));
    table.append(py::make_tuple(info.code, info.what, info.way_out));
  }
  return table;
}

// None, or what is wrong with the value.
std::optional<std::string> assign(const std::string& name, py::object value) {
  const SettingInfo* info = find_setting(name);
  if (info == nullptr) return "there is no such setting";
  if (info->type == SettingType::words && PyUnicode_Check(value.ptr()))
    return set_setting_from_text(name, py::cast<std::string>(value));
  std::optional<SettingValue> converted = to_setting(info->type, value);
  if (!converted) return std::string("expected a value of type ") + type_names[static_cast<int>(info->type)];
  return set_setting(name, std::move(*converted));
}

}  // namespace

void bind_tables(py::module_& module) {
  module.def("settings_table", settings_table);
  module.def("reasons_table", reasons_table);
  module.def("get_setting", [](const std::string& name) { return to_python(get_setting(name)); });
  module.def("set_setting", assign);
  module.def("setting_problems", [] { return setting_problems(); });
  module.def("log_topics", [] {
    py::list topics;
    for (const LogTopicInfo& topic : log_topics()) topics.append(py::make_tuple(topic.name, topic.doc));
    return topics;
  });
}

}  // namespace accel
