// Exceptions that capture knows of: pure operations on constants raise them, handlers in the captured code catch them. What no
// handler catches is left to the interpreter at the instruction that raises.

#include "capture/domain/repr.h"
#include "capture/interpreter/interpreter.h"

namespace accel {

namespace {

// Stands for something on the value stack that has no recipe: no frame is rebuilt while an exception is handled.
Ref opaque(PyObject* object) {
  Ref value = std::make_shared<AbstractValue>();
  value->kind = AbstractKind::object;
  value->object = PyRef::borrow(object);
  return value;
}

bool is_ordinary(PyObject* exception) {
  return PyObject_TypeCheck(exception, reinterpret_cast<PyTypeObject*>(PyExc_Exception)) &&
         !PyErr_GivenExceptionMatches(exception, PyExc_MemoryError) &&
         !PyErr_GivenExceptionMatches(exception, PyExc_RecursionError);
}

}  // namespace

Failure Capture::raised() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  PyRef owned_type = PyRef::steal(type), owned_traceback = PyRef::steal(traceback);
  return raised(PyRef::steal(value));
}

Failure Capture::raised(PyObject* type, const std::string& text) {
  return raised(PyRef::steal(PyObject_CallFunction(type, "s", text.c_str())));
}

Failure Capture::raised(PyRef exception) {
  if (!exception || !is_ordinary(exception.get())) {
    PyErr_Clear();
    return fail(Reason::will_raise, "Python raises here");
  }
  PyRef text = PyRef::steal(PyObject_Str(exception.get()));
  if (!text) PyErr_Clear();
  exception_detail_ = type_name(exception.get()) + ": " + (text ? utf8(text.get()) : std::string("?"));
  exception_ = std::move(exception);
  return fail(Reason::will_raise, exception_detail_);
}

PyRef Capture::exception_of(const Failure& failure) const {
  if (failure.reason != Reason::will_raise || failure.detail != exception_detail_) return {};
  return exception_;
}

// Goes on at the handler of an exception, if there is one in the frames from `base` on.
bool Interpreter::unwind(const Failure& why, size_t base) {
  PyRef exception = capture_.exception_of(why);
  if (!exception) return false;
  for (size_t k = frames_.size(); k-- > base;) {
    const Bytecode& bytecode = frames_[k]->bytecode();
    int handler = bytecode.instructions[static_cast<size_t>(frames_[k]->previous)].handler;
    if (handler < 0) continue;
    const Handler& where = bytecode.handlers[static_cast<size_t>(handler)];
    frames_.resize(k + 1);
    Frame& frame = *frames_[k];
    frame.stack.resize(static_cast<size_t>(where.depth));
    if (where.push_lasti) frame.push(opaque(Py_None));
    frame.push(opaque(exception.get()));
    frame.next = where.target;
    return true;
  }
  return false;
}

}  // namespace accel
