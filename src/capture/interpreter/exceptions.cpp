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

}  // namespace

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
