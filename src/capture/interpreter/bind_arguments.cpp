// Binding of abstract arguments to the locals of a Python function.

#include "capture/domain/repr.h"
#include "capture/interpreter/interpreter.h"

namespace accel {

namespace {

Failure bad_call(Capture& capture, PyCodeObject* code, const std::string& what) {
  return capture.raised(PyExc_TypeError, utf8(code->co_name) + "(): " + what);
}

class Binder {
 public:
  Binder(Capture& capture, const PythonFunction& function)
      : capture_(capture),
        function_(function),
        code_(reinterpret_cast<PyCodeObject*>(function.code.get())),
        names_(PyRef::steal(PyCode_GetVarnames(code_))),
        positional_(static_cast<size_t>(code_->co_argcount)),
        named_(positional_ + static_cast<size_t>(code_->co_kwonlyargcount)) {
    locals_.resize(static_cast<size_t>(code_->co_nlocalsplus));
  }

  Result<std::vector<Ref>> run(const CallArguments& arguments) {
    ACCEL_TRY([[maybe_unused]] Unit first, bind_positional(arguments.positional));
    ACCEL_TRY([[maybe_unused]] Unit second, bind_keywords(arguments.keywords));
    ACCEL_TRY([[maybe_unused]] Unit third, bind_defaults());
    return std::move(locals_);
  }

 private:
  PyObject* name(size_t i) const { return PyTuple_GET_ITEM(names_.get(), static_cast<Py_ssize_t>(i)); }
  bool has_varargs() const { return (code_->co_flags & CO_VARARGS) != 0; }
  bool has_varkeywords() const { return (code_->co_flags & CO_VARKEYWORDS) != 0; }

  Status bind_positional(const std::vector<Ref>& values) {
    size_t count = std::min(values.size(), positional_);
    std::copy_n(values.begin(), count, locals_.begin());
    if (has_varargs()) {
      locals_[named_] = capture_.values().tuple({values.begin() + static_cast<std::ptrdiff_t>(count), values.end()});
    } else if (values.size() > positional_) {
      return bad_call(capture_, code_, "too many positional arguments");
    }
    return Unit{};
  }

  Status bind_keywords(const std::vector<std::pair<std::string, Ref>>& keywords) {
    Ref rest;
    if (has_varkeywords()) {
      rest = std::make_shared<AbstractValue>();
      rest->kind = AbstractKind::dict;
      locals_[named_ + (has_varargs() ? 1 : 0)] = rest;
    }
    for (const auto& [key, value] : keywords) {
      size_t i = static_cast<size_t>(code_->co_posonlyargcount);
      while (i < named_ && utf8(name(i)) != key) ++i;
      if (i < named_) {
        if (locals_[i]) return bad_call(capture_, code_, "several values for " + key);
        locals_[i] = value;
      } else if (rest) {
        rest->keys.push_back(PyRef::steal(PyUnicode_FromStringAndSize(key.data(), static_cast<Py_ssize_t>(key.size()))));
        rest->items.push_back(value);
      } else {
        return bad_call(capture_, code_, "unexpected keyword argument " + key);
      }
    }
    return Unit{};
  }

  Status bind_defaults() {
    size_t first = positional_ - std::min(positional_, function_.defaults.size());
    for (size_t i = 0; i < named_; ++i) {
      if (locals_[i]) continue;
      if (i < positional_ && i >= first) {
        locals_[i] = function_.defaults[i - first];
      } else if (i >= positional_) {
        locals_[i] = keyword_default(name(i));
      }
      if (!locals_[i]) return bad_call(capture_, code_, "missing argument " + utf8(name(i)));
    }
    return Unit{};
  }

  Ref keyword_default(PyObject* wanted) const {
    for (const auto& [key, value] : function_.keyword_defaults) {
      if (utf8(key.get()) == utf8(wanted)) return value;
    }
    return nullptr;
  }

  Capture& capture_;
  const PythonFunction& function_;
  PyCodeObject* code_;
  PyRef names_;
  size_t positional_, named_;
  std::vector<Ref> locals_;
};

}  // namespace

Result<std::vector<Ref>> bind_call(Capture& capture, const PythonFunction& function, const CallArguments& arguments) {
  return Binder(capture, function).run(arguments);
}

}  // namespace accel
