#include "dispatch/versions/wrapped_function.h"

#include <utility>

namespace accel {
namespace {

std::string utf8(PyObject* text) {
  const char* found = text != nullptr && PyUnicode_Check(text) ? PyUnicode_AsUTF8(text) : nullptr;
  if (found == nullptr) PyErr_Clear();
  return found != nullptr ? found : "?";
}

}  // namespace

WrappedFunction::WrappedFunction(PyObject* function) : function_(reinterpret_cast<PyFunctionObject*>(function)) { take_code(); }

void WrappedFunction::take_code() {
  code_ = PyRef::borrow(PyFunction_GET_CODE(function_));
  argument_count_ = code()->co_argcount;
  local_count_ = accel::local_count(code());
  has_plain_signature_ = code()->co_kwonlyargcount == 0 && (code()->co_flags & (CO_VARARGS | CO_VARKEYWORDS)) == 0;
}

std::string WrappedFunction::name() const { return utf8(function_->func_qualname); }

std::string WrappedFunction::name_and_place() const {
  return name() + " (" + utf8(code()->co_filename) + ":" + std::to_string(code()->co_firstlineno) + ")";
}

Fallback WrappedFunction::at_start(Reason reason, std::string detail) const {
  return {reason, std::move(detail), utf8(code()->co_filename), code()->co_firstlineno};
}

}  // namespace accel
