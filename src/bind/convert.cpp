#include "bind/convert.h"

#include "dispatch/signals/interrupt.h"

namespace accel {

py::object to_python(const SettingValue& value) {
  return std::visit([](const auto& held) -> py::object { return py::cast(held); }, value);
}

namespace {

std::optional<SettingValue> to_integer(py::handle object) {
  if (!PyLong_Check(object.ptr()) || PyBool_Check(object.ptr())) return std::nullopt;
  int overflow = 0;
  int64_t value = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (overflow != 0) return std::nullopt;
  return SettingValue(value);
}

std::optional<SettingValue> to_number(py::handle object) {
  if (PyFloat_Check(object.ptr())) return SettingValue(PyFloat_AS_DOUBLE(object.ptr()));
  auto integer = to_integer(object);
  if (!integer) return std::nullopt;
  return SettingValue(static_cast<double>(std::get<int64_t>(*integer)));
}

std::optional<SettingValue> to_words(py::handle object) {
  if (!PyList_Check(object.ptr()) && !PyTuple_Check(object.ptr())) return std::nullopt;
  std::vector<std::string> words;
  for (py::handle item : object) {
    if (!PyUnicode_Check(item.ptr())) return std::nullopt;
    words.push_back(py::cast<std::string>(item));
  }
  return SettingValue(std::move(words));
}

}  // namespace

std::optional<SettingValue> to_setting(SettingType type, py::handle object) {
  switch (type) {
    case SettingType::boolean:
      if (!PyBool_Check(object.ptr())) return std::nullopt;
      return SettingValue(object.ptr() == Py_True);
    case SettingType::integer:
      return to_integer(object);
    case SettingType::number:
      return to_number(object);
    case SettingType::text:
      if (!PyUnicode_Check(object.ptr())) return std::nullopt;
      return SettingValue(py::cast<std::string>(object));
    case SettingType::words:
      return to_words(object);
  }
  return std::nullopt;
}

py::dict to_python(const Fallback& fallback) {
  const ReasonInfo& info = reason_info(fallback.reason);
  py::dict made;
  made["reason"] = info.code;
  made["what"] = info.what;
  made["way_out"] = info.way_out;
  made["detail"] = fallback.detail;
  made["file"] = fallback.file;
  made["line"] = fallback.line;
  return made;
}

std::vector<std::string> call_for_texts(const char* module, const char* function) {
  py::gil_scoped_acquire locked;
  try {
    return py::module_::import(module).attr(function)().cast<std::vector<std::string>>();
  } catch (py::error_already_set& error) {
    error.restore();
    drop_own_error();
  } catch (const py::cast_error&) {  // a text that is not UTF-8
  }
  return {};
}

}  // namespace accel
