#include "dispatch/reports/python_errors.h"

#include "cpython/py_ref.h"
#include "dispatch/signals/interrupt.h"

namespace accel {
namespace {

// Saves the pending exception during calls that require none pending, and drops errors of these calls.
class PendingException {
 public:
  ~PendingException() { drop_own_error(); }

 private:
  SavedException pending_;
};

// An attribute of a module; new reference, null with an exception.
PyRef member(const char* module, const char* name) {
  PyRef imported = PyRef::steal(PyImport_ImportModule(module));
  return imported ? PyRef::steal(PyObject_GetAttrString(imported.get(), name)) : PyRef();
}

PyRef text_object(const std::string& text) {
  return PyRef::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

}  // namespace

void raise_error(const char* name, const std::string& message) {
  PyRef type = member("accel.errors", name), text = text_object(message);
  if (type && text) PyErr_SetObject(type.get(), text.get());
}

void raise_unsupported(const std::string& function, const Fallback& fallback) {
  const ReasonInfo& info = reason_info(fallback.reason);
  PyRef make = member("accel.errors", "_unsupported");
  if (!make) return;
  PyRef error =
      PyRef::steal(PyObject_CallFunction(make.get(), "sssssis", function.c_str(), info.code, info.what, fallback.detail.c_str(),
                                         fallback.file.c_str(), fallback.line, info.way_out));
  if (error) PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.get())), error.get());
}

bool warn(const std::string& message) {
  PyRef type = member("accel.errors", "AccelWarning"), text = text_object(message);
  if (!type || !text) return false;
  return PyErr_WarnEx(type.get(), PyUnicode_AsUTF8(text.get()), 1) == 0;
}

void log_record(LogTopic topic, const std::string& text) {
  if (!log_enabled(topic)) return;
  PendingException pending;
  PyRef emit = member("accel.logging", "_emit"), message = text_object(text);
  const char* name = log_topics()[static_cast<size_t>(topic)].name;
  if (emit && message) PyRef::steal(PyObject_CallFunction(emit.get(), "sO", name, message.get()));
}

void say_slow(const std::string& text) {
  PendingException pending;
  PyRef say = member("accel.logging", "_say_slow"), message = text_object(text);
  if (say && message) PyRef::steal(PyObject_CallFunctionObjArgs(say.get(), message.get(), nullptr));
}

std::string describe(Reason reason, const std::string& detail) {
  const ReasonInfo& info = reason_info(reason);
  std::string text = std::string(info.code) + ": " + info.what;
  if (!detail.empty()) text += ": " + detail;
  return text + ". Way out: " + info.way_out;
}

std::string take_exception_text() {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  PyRef held[] = {PyRef::steal(type), PyRef::steal(value), PyRef::steal(traceback)};
  std::string text = type != nullptr ? reinterpret_cast<PyTypeObject*>(type)->tp_name : "no exception";
  PyRef shown = value != nullptr ? PyRef::steal(PyObject_Str(value)) : PyRef();
  const char* utf8 = shown ? PyUnicode_AsUTF8(shown.get()) : nullptr;
  if (utf8 != nullptr && *utf8 != '\0') text += std::string(": ") + utf8;
  PyErr_Clear();
  return text;
}

}  // namespace accel
